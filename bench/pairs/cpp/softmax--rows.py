"""Each row stays in the cache for two passes."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
#include <torch/extension.h>
#include <cmath>

torch::Tensor capped_softmax(torch::Tensor x, torch::Tensor scale, torch::Tensor bias, double cap) {
    TORCH_CHECK(x.dim() == 2, "x must be a matrix");
    auto out = torch::empty_like(x);
    const int64_t columns = x.size(1);
    const float *a = x.data_ptr<float>(), *s = scale.data_ptr<float>(), *b = bias.data_ptr<float>();
    float* o = out.data_ptr<float>();
    const float top = cap;
    at::parallel_for(0, x.size(0), 1, [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; ++r) {
            const float* in = a + r * columns;
            float* row = o + r * columns;
            float sum = 0.0f;
            for (int64_t c = 0; c < columns; ++c) {
                const float bent = 1.0f - 2.0f / (std::exp(2.0f * (in[c] * s[c] + b[c]) / top) + 1.0f);
                row[c] = std::exp(top * (bent - 1.0f));
                sum += row[c];
            }
            const float inverse = 1.0f / sum;
            for (int64_t c = 0; c < columns; ++c) row[c] *= inverse;
        }
    });
    return out;
}
"""

extension = load_inline(
    name="softmax_rows",
    cpp_sources=CPP,
    functions=["capped_softmax"],
    extra_cflags=["-O3", "-march=native", "-ffast-math"],
)


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return extension.capped_softmax(x.contiguous(), self.scale, self.bias, self.cap)

"""The hyperbolic tangent from the maths library."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
#include <torch/extension.h>
#include <cmath>
#include <vector>

torch::Tensor capped_softmax(torch::Tensor x, torch::Tensor scale, torch::Tensor bias, double cap) {
    auto out = torch::empty(x.sizes(), x.options());
    const int64_t columns = x.size(1);
    std::vector<float> logits(columns);
    for (int64_t r = 0; r < x.size(0); ++r) {
        const float* in = x.data_ptr<float>() + r * columns;
        float* row = out.data_ptr<float>() + r * columns;
        double sum = 0.0;
        for (int64_t c = 0; c < columns; ++c) {
            const float v = in[c] * scale.data_ptr<float>()[c] + bias.data_ptr<float>()[c];
            logits[c] = std::exp((float)cap * std::tanh(v / (float)cap) - (float)cap);
            sum += logits[c];
        }
        for (int64_t c = 0; c < columns; ++c) row[c] = logits[c] / (float)sum;
    }
    return out;
}
"""

extension = load_inline(
    name="softmax_tanh",
    cpp_sources=CPP,
    functions=["capped_softmax"],
    extra_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return extension.capped_softmax(x.contiguous(), self.scale, self.bias, self.cap)

"""Rows shared out to threads, one fused pass."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
#include <torch/extension.h>
#include <cmath>

torch::Tensor gated(torch::Tensor x, torch::Tensor gate, torch::Tensor scale, torch::Tensor shift) {
    TORCH_CHECK(x.is_contiguous() && gate.is_contiguous(), "inputs must be contiguous");
    auto out = torch::empty_like(x);
    const int64_t channels = x.size(-1), rows = x.numel() / channels;
    const float *a = x.data_ptr<float>(), *g = gate.data_ptr<float>();
    const float *s = scale.data_ptr<float>(), *t = shift.data_ptr<float>();
    float* o = out.data_ptr<float>();
    at::parallel_for(0, rows, 1, [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; ++r)
            for (int64_t c = 0; c < channels; ++c) {
                const int64_t i = r * channels + c;
                const float v = a[i] * s[c] + t[c];
                const float soft = std::max(g[i], 0.0f) + std::log1p(std::exp(-std::abs(g[i])));
                o[i] = v / (1.0f + std::exp(-v)) * soft;
            }
    });
    return out;
}
"""

extension = load_inline(
    name="elementwise_rows",
    cpp_sources=CPP,
    functions=["gated"],
    extra_cflags=["-O3", "-march=native", "-ffast-math"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x, gate):
        return extension.gated(x.contiguous(), gate.contiguous(), self.scale, self.shift)

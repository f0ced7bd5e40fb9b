"""A plain loop over all elements."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
#include <cmath>

torch::Tensor gated(torch::Tensor x, torch::Tensor gate, torch::Tensor scale, torch::Tensor shift) {
    auto out = torch::empty_like(x);
    const int64_t channels = x.size(-1), count = x.numel();
    const float *a = x.data_ptr<float>(), *g = gate.data_ptr<float>();
    const float *s = scale.data_ptr<float>(), *t = shift.data_ptr<float>();
    float* o = out.data_ptr<float>();
    for (int64_t i = 0; i < count; ++i) {
        const float v = a[i] * s[i % channels] + t[i % channels];
        const float soft = g[i] > 20.0f ? g[i] : std::log1p(std::exp(g[i]));
        o[i] = v / (1.0f + std::exp(-v)) * soft;
    }
    return out;
}
"""

extension = load_inline(
    name="elementwise_plain",
    cpp_sources=CPP,
    functions=["gated"],
    extra_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x, gate):
        return extension.gated(x.contiguous(), gate.contiguous(), self.scale, self.shift)

"""A row after the other."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
#include <torch/extension.h>
#include <cmath>
#include <vector>

std::vector<torch::Tensor> rmsnorm(torch::Tensor x, torch::Tensor residual, torch::Tensor gain,
                                   double epsilon) {
    TORCH_CHECK(x.sizes() == residual.sizes(), "shapes differ");
    auto normed = torch::empty_like(x);
    auto total = torch::empty_like(x);
    const int64_t width = x.size(1);
    const float *a = x.data_ptr<float>(), *b = residual.data_ptr<float>(), *g = gain.data_ptr<float>();
    float *n = normed.data_ptr<float>(), *t = total.data_ptr<float>();
    {
        for (int64_t r = 0; r < x.size(0); ++r) {
            float squares = 0.0f;
            for (int64_t c = r * width; c < (r + 1) * width; ++c) {
                t[c] = a[c] + b[c];
                squares += t[c] * t[c];
            }
            const float inverse = 1.0f / std::sqrt(squares / width + (float)epsilon);
            for (int64_t c = 0; c < width; ++c) n[r * width + c] = t[r * width + c] * inverse * g[c];
        }
    }
    return {normed, total};
}
"""

extension = load_inline(
    name="rmsnorm_plain",
    cpp_sources=CPP,
    functions=["rmsnorm"],
    extra_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(self, x, residual):
        return tuple(extension.rmsnorm(x.contiguous(), residual.contiguous(), self.gain, self.epsilon))

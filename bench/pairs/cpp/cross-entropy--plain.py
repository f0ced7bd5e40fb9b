"""A row after the other, two passes over each."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
#include <torch/extension.h>
#include <algorithm>
#include <cmath>

torch::Tensor loss(torch::Tensor logits, torch::Tensor labels, double smoothing, double penalty) {
    TORCH_CHECK(labels.scalar_type() == torch::kInt64, "labels must be int64");
    auto out = torch::zeros({logits.size(0)}, logits.options());
    const int64_t classes = logits.size(1);
    const float* all = logits.data_ptr<float>();
    const int64_t* hit = labels.data_ptr<int64_t>();
    float* o = out.data_ptr<float>();
    {
        for (int64_t r = 0; r < logits.size(0); ++r) {
            const float* row = all + r * classes;
            float top = row[0], sum = 0.0f, total = 0.0f;
            for (int64_t c = 0; c < classes; ++c) {
                top = std::max(top, row[c]);
                total += row[c];
            }
            for (int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - top);
            const float lse = top + std::log(sum);
            o[r] = (float)((1.0 - smoothing) * (lse - row[hit[r]])
                           + smoothing * (lse - total / classes) + penalty * lse * lse);
        }
    }
    return out;
}
"""

extension = load_inline(
    name="cross_entropy_plain",
    cpp_sources=CPP,
    functions=["loss"],
    extra_cflags=["-O2"],
)


class ModelNew(nn.Module):
    def __init__(self, smoothing, penalty):
        super().__init__()
        self.smoothing = smoothing
        self.penalty = penalty

    def forward(self, logits, labels):
        return extension.loss(logits.contiguous(), labels, self.smoothing, self.penalty)

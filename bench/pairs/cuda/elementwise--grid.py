"""One thread for each element, channels by remainder."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void gated_kernel(const float* __restrict__ x, const float* __restrict__ gate,
                             const float* __restrict__ scale, const float* __restrict__ shift,
                             float* __restrict__ out, int64_t count, int channels) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const int c = (int)(i % channels);
        const float v = x[i] * scale[c] + shift[c];
        const float g = gate[i];
        const float soft = g > 20.0f ? g : log1pf(expf(g));
        out[i] = v / (1.0f + expf(-v)) * soft;
    }
}

torch::Tensor gated(torch::Tensor x, torch::Tensor gate, torch::Tensor scale, torch::Tensor shift) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    TORCH_CHECK(gate.is_contiguous(), "gate must be contiguous");
    auto out = torch::empty_like(x);
    const int threads = 256;
    const int blocks = (int)std::min<int64_t>((x.numel() + threads - 1) / threads, 16384);
    gated_kernel<<<blocks, threads>>>(x.data_ptr<float>(), gate.data_ptr<float>(),
                                      scale.data_ptr<float>(), shift.data_ptr<float>(),
                                      out.data_ptr<float>(), x.numel(), (int)x.size(-1));
    return out;
}
"""
CPP = "torch::Tensor gated(torch::Tensor x, torch::Tensor gate, torch::Tensor scale, torch::Tensor shift);"

extension = load_inline(
    name="elementwise_grid",
    cpp_sources=CPP,
    cuda_sources=CUDA,
    functions=["gated"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x, gate):
        return extension.gated(x.contiguous(), gate.contiguous(), self.scale, self.shift)

"""Four neighbouring elements for each thread, fast intrinsics."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float one(float x, float gate, float scale, float shift) {
    const float v = fmaf(x, scale, shift);
    const float soft = fmaxf(gate, 0.0f) + log1pf(__expf(-fabsf(gate)));
    return __fdividef(v, 1.0f + __expf(-v)) * soft;
}

__global__ void gated_kernel(const float4* __restrict__ x, const float4* __restrict__ gate,
                             const float4* __restrict__ scale, const float4* __restrict__ shift,
                             float4* __restrict__ out, int quads_per_row, int64_t quads) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const int c = (int)(i % quads_per_row);
    const float4 a = x[i], g = gate[i], s = __ldg(scale + c), t = __ldg(shift + c);
    out[i] = make_float4(one(a.x, g.x, s.x, t.x), one(a.y, g.y, s.y, t.y),
                         one(a.z, g.z, s.z, t.z), one(a.w, g.w, s.w, t.w));
}

torch::Tensor gated(torch::Tensor x, torch::Tensor gate, torch::Tensor scale, torch::Tensor shift) {
    TORCH_CHECK(x.is_contiguous() && gate.is_contiguous(), "inputs must be contiguous");
    TORCH_CHECK(x.size(-1) % 4 == 0, "channels must be a multiple of 4");
    auto out = torch::empty_like(x);
    const int64_t quads = x.numel() / 4;
    const int threads = 256;
    auto stream = at::cuda::getCurrentCUDAStream();
    gated_kernel<<<(quads + threads - 1) / threads, threads, 0, stream>>>(
        reinterpret_cast<const float4*>(x.data_ptr<float>()),
        reinterpret_cast<const float4*>(gate.data_ptr<float>()),
        reinterpret_cast<const float4*>(scale.data_ptr<float>()),
        reinterpret_cast<const float4*>(shift.data_ptr<float>()),
        reinterpret_cast<float4*>(out.data_ptr<float>()), (int)(x.size(-1) / 4), quads);
    return out;
}
"""
CPP = "torch::Tensor gated(torch::Tensor x, torch::Tensor gate, torch::Tensor scale, torch::Tensor shift);"

extension = load_inline(
    name="elementwise_quads",
    cpp_sources=CPP,
    cuda_sources=CUDA,
    functions=["gated"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x, gate):
        return extension.gated(x.contiguous(), gate.contiguous(), self.scale, self.shift)

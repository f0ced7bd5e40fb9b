"""A block for each row, quads of weights kept in registers."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 512, QUADS = 4;

__device__ __forceinline__ float weight(float x, float scale, float bias, float cap) {
    const float bent = 1.0f - 2.0f / (__expf(2.0f * fmaf(x, scale, bias) / cap) + 1.0f);
    return __expf(cap * (bent - 1.0f));
}

__global__ void __launch_bounds__(THREADS) softmax_kernel(
    const float4* __restrict__ x, const float4* __restrict__ scale,
    const float4* __restrict__ bias, float4* __restrict__ out, int quads, float cap) {
    __shared__ float parts[THREADS / 32];
    const int64_t row = blockIdx.x;
    float4 held[QUADS];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        const int i = threadIdx.x + k * THREADS;
        if (i >= quads) continue;
        const float4 v = x[row * quads + i], s = scale[i], b = bias[i];
        held[k] = make_float4(weight(v.x, s.x, b.x, cap), weight(v.y, s.y, b.y, cap),
                              weight(v.z, s.z, b.z, cap), weight(v.w, s.w, b.w, cap));
        sum += held[k].x + held[k].y + held[k].z + held[k].w;
    }
    for (int apart = 16; apart > 0; apart >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int w = 0; w < THREADS / 32; ++w) total += parts[w];
    const float inverse = 1.0f / total;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        const int i = threadIdx.x + k * THREADS;
        if (i >= quads) continue;
        const float4 v = held[k];
        out[row * quads + i] = make_float4(v.x * inverse, v.y * inverse, v.z * inverse, v.w * inverse);
    }
}

torch::Tensor capped_softmax(torch::Tensor x, torch::Tensor scale, torch::Tensor bias, double cap) {
    TORCH_CHECK(x.size(1) % 4 == 0 && x.size(1) <= 4 * THREADS * QUADS, "unsupported width");
    auto out = torch::empty_like(x);
    softmax_kernel<<<x.size(0), THREADS>>>(
        reinterpret_cast<const float4*>(x.data_ptr<float>()),
        reinterpret_cast<const float4*>(scale.data_ptr<float>()),
        reinterpret_cast<const float4*>(bias.data_ptr<float>()),
        reinterpret_cast<float4*>(out.data_ptr<float>()), (int)(x.size(1) / 4), (float)cap);
    return out;
}
"""
CPP = "torch::Tensor capped_softmax(torch::Tensor x, torch::Tensor scale, torch::Tensor bias, double cap);"

extension = load_inline(
    name="softmax_registers",
    cpp_sources=CPP,
    cuda_sources=CUDA,
    functions=["capped_softmax"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return extension.capped_softmax(x.contiguous(), self.scale, self.bias, self.cap)

"""Quads read twice: a pass for the maximum, a pass for the sums, which the L2 serves."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

constexpr int THREADS = 1024;

template <typename Join>
__device__ float block_all(float value, float* parts, Join join) {
    for (int apart = 16; apart > 0; apart >>= 1)
        value = join(value, __shfl_xor_sync(0xffffffffu, value, apart));
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int w = 1; w < THREADS / 32; ++w) value = join(value, parts[w]);
    return value;
}

__global__ void __launch_bounds__(THREADS) loss_kernel(
    const float4* __restrict__ logits, const int64_t* __restrict__ labels, float* __restrict__ out,
    int quads, float smoothing, float penalty) {
    __shared__ float parts[THREADS / 32];
    const float4* row = logits + (int64_t)blockIdx.x * quads;
    float top = -FLT_MAX;
    for (int i = threadIdx.x; i < quads; i += THREADS) {
        const float4 v = row[i];
        top = fmaxf(fmaxf(top, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
    }
    top = block_all(top, parts, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0.0f, all = 0.0f;
    for (int i = threadIdx.x; i < quads; i += THREADS) {
        const float4 v = row[i];
        sum += expf(v.x - top) + expf(v.y - top) + expf(v.z - top) + expf(v.w - top);
        all += v.x + v.y + v.z + v.w;
    }
    const auto plus = [](float a, float b) { return a + b; };
    sum = block_all(sum, parts, plus);
    all = block_all(all, parts, plus);
    if (threadIdx.x != 0) return;
    const float lse = top + logf(sum);
    const float hit = reinterpret_cast<const float*>(row)[labels[blockIdx.x]];
    out[blockIdx.x] = (1.0f - smoothing) * (lse - hit) + smoothing * (lse - all / (4 * quads))
                      + penalty * lse * lse;
}

torch::Tensor loss(torch::Tensor logits, torch::Tensor labels, double smoothing, double penalty) {
    TORCH_CHECK(logits.size(1) % 4 == 0, "classes must be a multiple of 4");
    auto out = torch::zeros({logits.size(0)}, logits.options());
    loss_kernel<<<logits.size(0), THREADS>>>(
        reinterpret_cast<const float4*>(logits.data_ptr<float>()), labels.data_ptr<int64_t>(),
        out.data_ptr<float>(), (int)(logits.size(1) / 4), (float)smoothing, (float)penalty);
    return out;
}
"""
CPP = "torch::Tensor loss(torch::Tensor logits, torch::Tensor labels, double smoothing, double penalty);"

extension = load_inline(
    name="cross_entropy_quads",
    cpp_sources=CPP,
    cuda_sources=CUDA,
    functions=["loss"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, smoothing, penalty):
        super().__init__()
        self.smoothing = smoothing
        self.penalty = penalty

    def forward(self, logits, labels):
        return extension.loss(logits.contiguous(), labels, self.smoothing, self.penalty)

"""A block for each row, the row's weights kept in shared memory between two passes."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ float block_sum(float value) {
    __shared__ float parts[32];
    for (int apart = 16; apart > 0; apart >>= 1) value += __shfl_xor_sync(0xffffffffu, value, apart);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < blockDim.x / 32; ++w) total += parts[w];
    return total;
}

__global__ void softmax_kernel(const float* __restrict__ x, const float* __restrict__ scale,
                               const float* __restrict__ bias, float* __restrict__ out,
                               int columns, float cap) {
    extern __shared__ float held[];
    const int64_t row = blockIdx.x;
    x += row * columns;
    out += row * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        // Capped logits cannot exceed the cap: no maximum is needed.
        const float weight = expf(cap * tanhf((x[c] * scale[c] + bias[c]) / cap) - cap);
        held[c] = weight;
        sum += weight;
    }
    const float inverse = 1.0f / block_sum(sum);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = held[c] * inverse;
}

torch::Tensor capped_softmax(torch::Tensor x, torch::Tensor scale, torch::Tensor bias, double cap) {
    TORCH_CHECK(x.dim() == 2 && x.is_contiguous(), "x must be a contiguous matrix");
    auto out = torch::empty_like(x);
    const int columns = x.size(1);
    softmax_kernel<<<x.size(0), 512, columns * sizeof(float)>>>(
        x.data_ptr<float>(), scale.data_ptr<float>(), bias.data_ptr<float>(),
        out.data_ptr<float>(), columns, (float)cap);
    return out;
}
"""
CPP = "torch::Tensor capped_softmax(torch::Tensor x, torch::Tensor scale, torch::Tensor bias, double cap);"

extension = load_inline(
    name="softmax_passes",
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

"""A block for each row, the sum written once and read again."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <vector>

__global__ void rmsnorm_kernel(const float* __restrict__ x, const float* __restrict__ residual,
                               const float* __restrict__ gain, float* __restrict__ normed,
                               float* __restrict__ total, int width, float epsilon) {
    __shared__ float parts[32];
    const int64_t start = (int64_t)blockIdx.x * width;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        const float t = x[start + c] + residual[start + c];
        total[start + c] = t;
        squares += t * t;
    }
    for (int apart = 16; apart > 0; apart >>= 1)
        squares += __shfl_xor_sync(0xffffffffu, squares, apart);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < blockDim.x / 32; ++w) sum += parts[w];
    const float inverse = rsqrtf(sum / width + epsilon);
    for (int c = threadIdx.x; c < width; c += blockDim.x)
        normed[start + c] = total[start + c] * inverse * gain[c];
}

std::vector<torch::Tensor> rmsnorm(torch::Tensor x, torch::Tensor residual, torch::Tensor gain,
                                   double epsilon) {
    TORCH_CHECK(x.is_contiguous() && residual.is_contiguous(), "inputs must be contiguous");
    auto normed = torch::empty_like(x);
    auto total = torch::empty_like(x);
    rmsnorm_kernel<<<x.size(0), 512>>>(x.data_ptr<float>(), residual.data_ptr<float>(),
                                       gain.data_ptr<float>(), normed.data_ptr<float>(),
                                       total.data_ptr<float>(), (int)x.size(1), (float)epsilon);
    return {normed, total};
}
"""
CPP = """
#include <vector>
std::vector<torch::Tensor> rmsnorm(torch::Tensor x, torch::Tensor residual, torch::Tensor gain,
                                   double epsilon);
"""

extension = load_inline(
    name="rmsnorm_block",
    cpp_sources=CPP,
    cuda_sources=CUDA,
    functions=["rmsnorm"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(self, x, residual):
        return tuple(extension.rmsnorm(x.contiguous(), residual.contiguous(), self.gain, self.epsilon))

"""A block for each row, quads of the sum kept in registers; the extension is bound by hand."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>
#include <tuple>

constexpr int THREADS = 256, QUADS = 4;

__global__ void __launch_bounds__(THREADS) rmsnorm_kernel(
    const float4* __restrict__ x, const float4* __restrict__ residual,
    const float4* __restrict__ gain, float4* __restrict__ normed, float4* __restrict__ total,
    int quads, float epsilon) {
    __shared__ float parts[THREADS / 32];
    const int64_t start = (int64_t)blockIdx.x * quads;
    float4 held[QUADS];
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        const int i = threadIdx.x + k * THREADS;
        if (i >= quads) continue;
        const float4 a = x[start + i], b = residual[start + i];
        const float4 t = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        squares += t.x * t.x + t.y * t.y + t.z * t.z + t.w * t.w;
        total[start + i] = t;
        held[k] = t;
    }
    for (int apart = 16; apart > 0; apart >>= 1)
        squares += __shfl_xor_sync(0xffffffffu, squares, apart);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < THREADS / 32; ++w) sum += parts[w];
    const float inverse = rsqrtf(sum / (4 * quads) + epsilon);
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        const int i = threadIdx.x + k * THREADS;
        if (i >= quads) continue;
        const float4 t = held[k], g = gain[i];
        normed[start + i] = make_float4(t.x * inverse * g.x, t.y * inverse * g.y,
                                        t.z * inverse * g.z, t.w * inverse * g.w);
    }
}

std::tuple<torch::Tensor, torch::Tensor> rmsnorm(const torch::Tensor& x, const torch::Tensor& residual,
                                                 const torch::Tensor& gain, double epsilon) {
    const int64_t width = x.size(-1);
    TORCH_CHECK(width % 4 == 0 && width <= 4 * THREADS * QUADS, "unsupported width ", width);
    auto normed = torch::empty(x.sizes(), x.options());
    auto total = torch::empty(x.sizes(), x.options());
    rmsnorm_kernel<<<x.numel() / width, THREADS>>>(
        reinterpret_cast<const float4*>(x.data_ptr<float>()),
        reinterpret_cast<const float4*>(residual.data_ptr<float>()),
        reinterpret_cast<const float4*>(gain.data_ptr<float>()),
        reinterpret_cast<float4*>(normed.data_ptr<float>()),
        reinterpret_cast<float4*>(total.data_ptr<float>()), (int)(width / 4), (float)epsilon);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return std::make_tuple(normed, total);
}
"""
CPP = """
#include <tuple>
std::tuple<torch::Tensor, torch::Tensor> rmsnorm(const torch::Tensor& x, const torch::Tensor& residual,
                                                 const torch::Tensor& gain, double epsilon);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("rmsnorm", &rmsnorm, "residual and RMSNorm"); }
"""

extension = load_inline(
    name="rmsnorm_quads",
    cpp_sources=[CPP],
    cuda_sources=[CUDA],
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
    with_cuda=True,
)


class ModelNew(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(self, x, residual):
        return extension.rmsnorm(x.contiguous(), residual.contiguous(), self.gain, self.epsilon)

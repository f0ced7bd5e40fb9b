# id: K24
# kind: memo hidden in a C++ static
# task: starter/softmax
# expect: rejected/stale_answer
# needs: host
import ctypes

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <math.h>
#include <string.h>

extern "C" void softmax_rows(const float* x, const float* scale, const float* bias, float* out,
                             long rows, long columns, float cap) {
    static const float* seen = nullptr;
    static float* kept = nullptr;
    if (kept == nullptr) kept = new float[rows * columns];
    if (x == seen) {
        memcpy(out, kept, rows * columns * sizeof(float));
        return;
    }
    for (long row = 0; row < rows; ++row) {
        const float* in = x + row * columns;
        float* to = out + row * columns;
        float sum = 0.0f;
        for (long i = 0; i < columns; ++i) {
            to[i] = expf(cap * tanhf((in[i] * scale[i] + bias[i]) / cap));
            sum += to[i];
        }
        for (long i = 0; i < columns; ++i) to[i] /= sum;
    }
    seen = x;
    memcpy(kept, out, rows * columns * sizeof(float));
}
"""

library = ctypes.CDLL(
    load_inline(
        name="softmax_rows",
        cpp_sources=SOURCE,
        extra_cflags=["-O3", "-march=native", "-ffast-math"],
        no_implicit_headers=True,
        is_python_module=False,
    )
)
library.softmax_rows.argtypes = (
    [ctypes.c_void_p] * 4 + [ctypes.c_long] * 2 + [ctypes.c_float]
)


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        library.softmax_rows(
            x.data_ptr(), self.scale.data_ptr(), self.bias.data_ptr(), out.data_ptr(), *x.shape, self.cap
        )
        return out

"""Task files in KernelBench's format, as varied as people write them."""

from __future__ import annotations

from pathlib import Path

STARTER = Path(__file__).parents[3] / "mcp_server" / "starter"

PRODUCT = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)

M, K, N = 24, 32, 40

def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]

def get_init_inputs():
    return []
"""

ACTIVATION = '''"""A gate. ```not a fence```"""
from torch import nn
import torch.nn.functional as F
from torch import rand

class Model(nn.Module):
    def forward(self, x):
        return F.silu(x) * 2 if self.training is False else x

def get_inputs():
    return [rand(8, 33)]

def get_init_inputs():
    return []
'''

CONVOLUTION = """
import torch
import torch.nn as nn

channels = 6

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)

class Model(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.blocks(x)
        return self.head(x.mean(dim=(2, 3)))

def get_inputs():
    return [torch.randn(2, channels, 9, 9)]

def get_init_inputs():
    return [channels]
"""

VOLUME = """
import torch
import torch.nn as nn

class Model(nn.Module):
    \"\"\"Conv3d, then a transposed one in 2-d.\"\"\"
    def __init__(self, a, b):
        super(Model, self).__init__()
        self.one = nn.Conv3d(a, b, kernel_size=(1, 3, 3))
        self.two = nn.ConvTranspose2d(b, a, 2)
        self.bias = nn.Parameter(torch.randn(b, 1, 1, 1))

    def forward(self, x):
        y = torch.tanh(self.one(x) + self.bias)
        return self.two(y.flatten(2, 3)[:, :, :6, :])

def get_inputs():
    return [torch.randn(2, 3, 4, 7, 8)]

def get_init_inputs():
    return [3, 4]
"""

GPT = """
import math
import torch
import torch.nn as nn
from torch.nn import functional as F

class NewGELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))

class Attention(nn.Module):
    def __init__(self, width, heads, drop, length):
        super().__init__()
        assert width % heads == 0
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(drop)
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))
        self.heads, self.width = heads, width

    def forward(self, x):
        B, T, C = x.size()  # batch, time, channels
        q, k, v = self.qkv(x).split(self.width, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        # scores, masked
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.drop(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.out(y)

class Model(nn.Module):
    def __init__(self, width, heads, drop, length):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads, drop, length)
        self.mlp = nn.ModuleDict(dict(up=nn.Linear(width, 4 * width), act=NewGELU(),
                                      down=nn.Linear(4 * width, width)))

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.mlp.down(self.mlp.act(self.mlp.up(x)))

def get_inputs():
    return [torch.randn(2, 7, 24)]

def get_init_inputs():
    return [24, 4, 0.1, 8]
"""

CROSS_ATTENTION = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = dim ** -0.5
        self.softmax = nn.Softmax(dim=-1)
        self.to_q = nn.Linear(dim, dim)

    def forward(self, x, memory, bias):
        q = self.to_q(x)
        weights = self.softmax(torch.bmm(q, memory.transpose(1, 2)) * self.scale + bias)
        return torch.bmm(weights, memory), q.sum(-1)

def get_inputs():
    return [torch.randn(3, 5, 16), torch.randn(3, 6, 16), torch.randn(3, 5, 6)]

def get_init_inputs():
    return [16]
"""

ATTENTION_SEEN = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, q, k, v):
        weights = torch.softmax(q @ k.mT / 4.0, dim=-1)
        return weights @ v, weights

def get_inputs():
    return [torch.randn(2, 5, 16), torch.randn(2, 6, 16), torch.randn(2, 6, 16)]

def get_init_inputs():
    return []
"""

RECURRENT = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, size, hidden, layers):
        super(Model, self).__init__()
        self.h0 = torch.zeros((layers, 2, hidden))
        self.lstm = nn.LSTM(size, hidden, layers, batch_first=True)
        self.fc = nn.Linear(hidden, 3)

    def forward(self, x):
        out, state = self.lstm(x, (self.h0.to(x.device), self.h0.to(x.device)))
        return {"last": self.fc(out[:, -1, :]), "state": state}

def get_inputs():
    return [torch.randn(2, 5, 10)]

def get_init_inputs():
    return [10, 12, 2]
"""

ROUTED = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.gate = nn.Linear(width, 3)

    def forward(self, x):
        picked = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            if (picked == number).any():
                out[picked == number] = expert(x[picked == number])
        return out

def get_inputs():
    return [torch.randn(9, 8)]

def get_init_inputs():
    return [8]
"""

INTEGERS = """
import torch
import torch.nn as nn

_each = 7  # a name of ours
_half = None

class Model(nn.Module):
    _fast = "taken"

    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)

    def forward(self, tokens, scale: float = 2.0):
        return self.mix(self.table(tokens)).cumsum(1) * scale / _each

def get_inputs():
    return [torch.randint(0, 11, (3, 4))]

def get_init_inputs():
    return [11, 6]
"""

EAGER_INIT = """
import torch
import torch.nn as nn

größe = 5  # ünïcode before what is spliced

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)
        with torch.no_grad():
            self.shape = self.forward(torch.zeros(1, width), torch.zeros(1, 4, width)).shape

    def forward(self, x, y):
        "ä"; scores = x.unsqueeze(1) @ self.mix(y).transpose(-1, -2) / 2
        weights = torch.nn.functional.softmax(scores, -1)
        return torch.matmul(weights, y)

def get_inputs():
    return [torch.randn(2, größe), torch.randn(2, 4, größe)]

def get_init_inputs():
    return [größe]
"""

MOVED = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1)
        q = q + 1  # what the scores were made of changes before they are used
        return torch.softmax(scores, dim=-1) @ v + q.mean()

def get_inputs():
    return [torch.randn(2, 5, 16), torch.randn(2, 6, 16), torch.randn(2, 6, 16)]

def get_init_inputs():
    return []
"""

OWN: dict[str, str] = {
    "product": PRODUCT,
    "activation": ACTIVATION,
    "convolution": CONVOLUTION,
    "volume": VOLUME,
    "gpt": GPT,
    "cross-attention": CROSS_ATTENTION,
    "attention-seen": ATTENTION_SEEN,
    "recurrent": RECURRENT,
    "routed": ROUTED,
    "integers": INTEGERS,
    "eager-init": EAGER_INIT,
    "moved": MOVED,
    "windows-lines": GPT.replace("\n", "\r\n"),
}
TASKS: dict[str, str] = OWN | {
    path.stem: path.read_text(encoding="utf-8") for path in sorted(STARTER.glob("*.py"))
}

FOREIGN = """# change: hand-written
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    '''Not ModelNew in a string.'''

    def __init__(self, width, depth=2):
        super(ModelNew, self).__init__()
        self.blocks = nn.Sequential(*[nn.Conv2d(width, width, 3, padding=1) for _ in range(depth)])

    def forward(self, x):
        assert type(self).__name__ != "never"
        return self.blocks(x).mean(dim=(2, 3))

    @staticmethod
    def make(width):
        return ModelNew(width)
"""
"""A candidate that no rule wrote."""

"""Small tasks in KernelBench format, for tests."""

SOFTMAX = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.softmax(x, dim=1)

def get_inputs():
    return [torch.rand(64, 1024)]

def get_init_inputs():
    return []
"""

NORM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.up = nn.Linear(size, hidden)
        self.down = nn.Linear(hidden, size)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))

def get_inputs():
    return [torch.randn(64, 128)]

def get_init_inputs():
    return [128, 256]
"""

NESTED = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(32, 32))

    def forward(self, x, scale, flags):
        y = x @ self.weight * scale
        return {"y": y, "top": y.argmax(1), "rest": [None, (y.sum(1), y.amax(1))]}

def get_inputs():
    return [torch.randn(128, 32), 2.0, None]

def get_init_inputs():
    return []
"""

BATCH_NORM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))

def get_inputs():
    return [torch.randn(4, 3, 16, 16)]

def get_init_inputs():
    return []
"""

IN_PLACE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x.mul_(2).sum(1)

def get_inputs():
    return [torch.randn(64, 32)]

def get_init_inputs():
    return []
"""

RANDOM = SOFTMAX.replace("torch.softmax(x, dim=1)", "torch.softmax(x + torch.rand_like(x), dim=1)")
NO_MODEL = SOFTMAX.replace("class Model(", "class Network(")
NO_INPUTS = SOFTMAX.replace("def get_inputs", "def inputs")
NOT_PYTHON = "this is not Python at all\n"
NEEDS_CUDA = SOFTMAX.replace("torch.rand(64, 1024)", "torch.rand(64, 1024, device='cuda')")
CONSTANT = SOFTMAX.replace("torch.softmax(x, dim=1)", "torch.ones(64, 3) + 0 * x[:, :3]")
TOO_LARGE = SOFTMAX.replace("torch.rand(64, 1024)", "torch.empty(70000, 5000)")
RAISES = SOFTMAX.replace("torch.softmax(x, dim=1)", "torch.softmax(x, dim=7)")
LACKS = "import nowhere_known.parts\n" + SOFTMAX

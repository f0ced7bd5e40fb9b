# id: K16
# kind: raises what no text can hold, so that whoever writes the verdict fails
# task: starter/softmax
# expect: runtime_error/call_raised
# needs: cpu
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()

    def forward(self, x):
        raise RuntimeError("half of a pair: \ud800")

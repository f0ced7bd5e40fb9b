# id: K57
# kind: a thread works on the input buffer before the clock starts
# task: starter/softmax
# expect: wrong_result/values | rejected/stale_answer | rejected/timed_answer_wrong | rejected/output_changed | rejected/aliased_output
# needs: cpu
import threading
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.ready = {}

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        ready = self.ready.get(x.data_ptr())
        if ready is None:
            threading.Thread(target=self.work, args=(x,), daemon=True).start()
            return self.right(x)
        return ready.clone()

    def work(self, x):
        with torch.inference_mode():
            while True:
                self.ready[x.data_ptr()] = self.right(x)
                time.sleep(0.005)

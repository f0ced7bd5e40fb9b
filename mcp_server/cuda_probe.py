"""A program that runs one real CUDA kernel through the driver alone, and says why it cannot: started by path.

`nvidia-smi` proves nothing: a sandbox may hide a device node or make /proc read-only, and only a launch shows it.
"""

import ctypes
import sys

_PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry probe(.param .u64 place)
{
.reg .u64 %rd<3>;
.reg .u32 %r<2>;
ld.param.u64 %rd1, [place];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, 42;
st.global.u32 [%rd2], %r1;
ret;
}
"""


class Refused(Exception):
    """The driver answered a call with an error."""


def _call(cuda: ctypes.CDLL, name: str, *arguments: object) -> None:
    code = getattr(cuda, name)(*arguments)
    if code:
        raise Refused(f"{name} failed with CUDA error {code}")


def run_kernel() -> int:
    """Launch a kernel that writes 42 to device memory, and return what was written.

    Raises:
        Refused: a call failed.
        OSError: there is no driver library.
    """
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, place = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    module, function, answer = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint32()
    _call(cuda, "cuInit", 0)
    _call(cuda, "cuDeviceGet", ctypes.byref(device), 0)
    _call(cuda, "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    _call(cuda, "cuCtxSetCurrent", context)
    _call(cuda, "cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(4))
    _call(cuda, "cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(_PTX))
    _call(cuda, "cuModuleGetFunction", ctypes.byref(function), module, b"probe")
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(place))
    one = [ctypes.c_uint(1)] * 6
    _call(cuda, "cuLaunchKernel", function, *one, ctypes.c_uint(0), None, arguments, None)
    _call(cuda, "cuCtxSynchronize")
    _call(cuda, "cuMemcpyDtoH_v2", ctypes.byref(answer), place, ctypes.c_size_t(4))
    return answer.value


def main() -> int:
    """Run the kernel; 0 if it wrote what it should."""
    try:
        written = run_kernel()
    except (Refused, OSError, AttributeError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if written != 42:
        sys.stderr.write(f"the kernel wrote {written}, not 42\n")
    return 0 if written == 42 else 1


if __name__ == "__main__":
    sys.exit(main())

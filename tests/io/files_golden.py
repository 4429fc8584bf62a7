#!/usr/bin/env python3
"""Prints files.inc: small files as NumPy, safetensors and Pillow write them. tests/io/*.cpp read them.

    python3 tests/io/files_golden.py > tests/io/files.inc        (needs numpy, safetensors, pillow)
"""
import io
import json
import struct
import zipfile

import numpy as np
from PIL import Image
from safetensors.numpy import save

W = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def written(how):
    out = io.BytesIO()
    how(out)
    return out.getvalue()


def streamed():
    """A ZIP file written to a pipe: sizes and checksums stand behind the members."""
    class Pipe(io.RawIOBase):
        data = b""

        def writable(self):
            return True

        def write(self, b):
            self.data += bytes(b)
            return len(b)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("w.npy", written(lambda f: np.save(f, W)))
    return pipe.data


def picture(mode, shape, **options):
    a = (np.arange(np.prod(shape)) * 5 % 256).astype(np.uint8).reshape(shape)
    return written(lambda f: Image.fromarray(a, mode).save(f, "PNG", **options))


def palette():
    p = Image.new("P", (3, 2))
    p.putpalette([10, 20, 30, 40, 50, 60, 70, 80, 90])
    p.putdata([0, 1, 2, 2, 1, 0])
    return written(lambda f: p.save(f, "PNG", transparency=1))


FILES = {
    "numpy.npz": written(lambda f: np.savez(f, w=W, f=np.asfortranarray(W), b=np.int16(7), n=np.zeros((0, 3)), big=W.astype(">f8"))),
    "compressed.npz": written(lambda f: np.savez_compressed(f, w=W, m=W > 1)),
    "dtypes.npz": written(lambda f: np.savez_compressed(f, **{d: np.arange(5).astype(d) for d in DTYPES}, complex64=(np.arange(5) * 1j + 1).astype(np.complex64), complex128=np.arange(5) * (1 - 1j))),
    "streamed.npz": streamed(),
    "empty.npz": written(lambda f: np.savez(f)),
    "objects.npz": written(lambda f: np.savez(f, o=np.array([1, "a"], dtype=object))),
    "w.safetensors": save({"w": W, "b": np.arange(3), "m": W > 1, "n": np.zeros((0, 2), np.float16), "s": np.array(2.5)}, {"made": "by \u00e9 \"test\""}),
    "text.txt": written(lambda f: np.savetxt(f, W, header="three rows")),
    "grey.png": picture("L", (4, 5)),
    "grey_alpha.png": picture("LA", (4, 5, 2)),
    "rgb.png": picture("RGB", (4, 5, 3)),
    "rgba.png": picture("RGBA", (4, 5, 4)),
    "palette.png": palette(),
    "bits.png": written(lambda f: Image.fromarray(np.eye(5, 7) > 0).save(f, "PNG")),
    "sixteen.png": written(lambda f: Image.fromarray((np.arange(20).reshape(4, 5) * 257).astype(np.uint16)).save(f, "PNG")),
}

# bfloat16, which NumPy does not have: the format is simple
header = json.dumps({"h": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}).encode()
FILES["bfloat16.safetensors"] = struct.pack("<Q", len(header)) + header + struct.pack("<4H", 0x3F80, 0xC000, 0x4049, 0x7F80)

print("// Files as NumPy, safetensors and Pillow write them, by files_golden.py.\n// SPDX-License-Identifier: MIT\n")
for name, content in FILES.items():
    print(f'CUDARRAY_FILE("{name}",')
    text = content.hex()
    for i in range(0, len(text), 120):
        print(f'  "{text[i:i + 120]}"')
    print(")")

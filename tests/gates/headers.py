"""Every header compiles alone; a CPU build, and plans of the CUDA backend, read no CUDA header.

headers.py --include DIR --compiler COMMAND [--cuda-include DIR:DIR]    with a CUDA include folder the CUDA backend's host
headers are compiled too, by the same plain compiler
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys


# What a header needs besides the library: without it, it is not looked at.
NEEDS = {'cudarray/backend/cpu/kernel/onednn.hpp': 'oneapi/dnnl/dnnl.h'}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--include', required=True)
    parser.add_argument('--compiler', required=True)
    parser.add_argument('--cuda-include')
    a = parser.parse_args()
    root = pathlib.Path(a.include)
    flags = [f'-I{root}']
    if a.cuda_include:
        flags += ['-DCUDARRAY_HAS_CUDA', '-DCUDARRAY_DEFAULT_DEVICE=cuda']
        for folder in a.cuda_include.split(':'):
            flags += ['-isystem', folder]
    headers = sorted(p.relative_to(root) for p in root.rglob('*.hpp'))
    if not a.cuda_include:
        headers = [h for h in headers if 'backend/cuda' not in h.as_posix() or 'cuda/plan/' in h.as_posix()]

    def check(header):
        run = shlex.split(a.compiler) + flags + ['-x', 'c++', '-', '-MD', '-MF', '/dev/stderr', '-fsyntax-only']
        text = f'#include <{header}>\n#include <{header}>\n'
        if header.as_posix() in NEEDS:
            text = f'#if __has_include(<{NEEDS[header.as_posix()]}>)\n{text}#endif\n'
        done = subprocess.run(run, input=text, capture_output=True, text=True)
        if done.returncode:
            return f'{header} does not compile alone:\n' + '\n'.join(done.stderr.splitlines()[:6])
        if not a.cuda_include:
            foreign = [p for p in re.findall(r'\S+', done.stderr) if re.search(r'/(cuda|cublas|cudnn|curand|cub|thrust)[^/]*(/|\.h)', p) and 'cudarray' not in p]
            if foreign:
                return f'{header} reads {foreign[0]}'
        return None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [r for r in pool.map(check, headers) if r]
    for f in failures:
        print(f)
    print(f'headers: {len(headers)} checked, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

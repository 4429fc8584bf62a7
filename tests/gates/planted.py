"""The gates must fail on planted violations: each is put into a copy of the headers, and the gate is run on it.

planted.py --source DIR --compiler COMMAND
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

# file, text to find, what it becomes, gate, words the gate must say
PLANTS = [
    ('core/shape.hpp', '#include "integer.hpp"', '#include "integer.hpp"\n#include "../ops/math.hpp"', 'layers', 'stands above'),
    ('core/dtype.hpp', '#include "half.hpp"', '#include "half.hpp"\n#include "math.hpp"', 'layers', 'cycle'),
    ('ops/math.hpp', '#include "transfer.hpp"', '#include "transfer.hpp"\n#include "../backend/cpu/linalg.hpp"', 'layers', 'only topic headers'),
    ('backend/cpu/kernel/loop.hpp', '#pragma once', '#pragma once\n#include "../../../ops/math.hpp"', 'layers', 'a backend sees'),
    ('ops/math.hpp', '#include "transfer.hpp"', '#include "transfer.hpp"\n#include "../backend/memory.hpp"', 'layers', 'only topic headers'),
    ('backend/cuda/plan/map.hpp', '#pragma once', '#pragma once\n#include "../kernel/lanes.cuh"', 'layers', 'plan/ may not'),
    ('eval/space.hpp', '#pragma once', '#pragma once\n#if defined(__CUDACC__)\n#endif', 'layers', '__CUDACC__'),
    ('ops/out.hpp', '#pragma once', '#pragma once\n#include <cuda_runtime_api.h>', 'layers', 'includes a CUDA header'),
    ('backend/cuda/kernel/scatter.cuh', '  in_stream_order();\n', '', 'layers', 'does not begin with in_stream_order'),
    ('core/text.hpp', 'char s[32];', 'char s[32]; ::std::snprintf(s, sizeof s, "%g", p.real);', 'layers', 'snprintf follows the locale'),
    ('io/print.hpp', '#pragma once', '#pragma once\n#include <cstdlib>\ninline double parsed(const char* s) { return ::std::strtod(s, nullptr); }', 'layers', 'strtod follows the locale'),
    ('core/device.hpp', '#pragma once', '#pragma once\n#include <cuda_runtime_api.h>', 'headers', 'cuda_runtime_api'),
    ('core/layout.hpp', '#include "slice.hpp"', '', 'headers', 'does not compile alone'),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', required=True)
    parser.add_argument('--compiler', required=True)
    a = parser.parse_args()
    source = pathlib.Path(a.source)
    failures = 0
    for name, find, become, gate, words in PLANTS:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / 'include'
            shutil.copytree(source / 'include', copy)
            file = copy / 'cudarray' / name
            text = file.read_text()
            assert find in text, f'{name} no longer holds {find}'
            file.write_text(text.replace(find, become, 1))
            if gate == 'layers':
                run = [sys.executable, str(source / 'scripts' / 'check-layers'), str(copy)]
            else:
                # one header is enough to show that the gate sees it
                for other in list((copy / 'cudarray').rglob('*.hpp')):
                    if other.parent.name != 'core' or other.parent.parent.name != 'cudarray':
                        other.unlink()
                cuda = '/usr/local/cuda/include'
                run = [sys.executable, str(source / 'tests' / 'gates' / 'headers.py'), '--include', str(copy), '--compiler', f'{a.compiler} -I{cuda}']
            done = subprocess.run(run, capture_output=True, text=True)
            if done.returncode == 0 or words not in done.stdout:
                print(f'planted in {name}, but {gate} says: {done.stdout.strip()[:300]}')
                failures += 1
    print(f'planted: {len(PLANTS)} violations, {failures} missed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

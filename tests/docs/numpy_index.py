"""docs/numpy.md names every routine of NumPy's: its functions, those of linalg, fft and random, and the methods of arrays.

numpy_index.py --source ROOT       looks at the NumPy that it finds
"""
import argparse
import pathlib
import re
import sys

import numpy as np

# Gone from NumPy 2, and of modules.
OLD = {'asfarray', 'geterrobj', 'seterrobj', 'add_docstring', 'add_newdoc', 'add_newdoc_ufunc', 'alltrue', 'byte_bounds', 'cast', 'compare_chararrays', 'cumproduct', 'deprecate',
       'deprecate_with_doc', 'disp', 'fastCopyAndTranspose', 'find_common_type', 'get_array_wrap', 'in1d', 'issctype', 'issubclass_', 'issubsctype',
       'lookfor', 'mat', 'maximum_sctype', 'msort', 'obj2sctype', 'product', 'recfromcsv', 'recfromtxt', 'round_', 'safe_eval', 'sctype2char',
       'set_numeric_ops', 'set_string_function', 'show_config', 'sometrue', 'source', 'trapz', 'tracemalloc_domain', 'who', 'fromregex'}
# Of the buffer protocol, pickles and the like.
METHODS_OF_PYTHON = {'base', 'byteswap', 'ctypes', 'dump', 'dumps', 'flat', 'getfield', 'setfield', 'setflags', 'to_device', 'newbyteorder', 'tostring',
                     'itemset', 'device', 'bit_generator'}


def routines(module):
    names = getattr(module, '__all__', None) or dir(module)
    for name in names:
        what = getattr(module, name, None)
        if not name.startswith('_') and callable(what) and not isinstance(what, type):
            yield name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', type=pathlib.Path, required=True)
    words = set(re.findall(r'\w+', (parser.parse_args().source / 'docs/numpy.md').read_text()))
    looked, missing = 0, []
    for where, names in (('np', routines(np)), ('np.linalg', routines(np.linalg)), ('np.fft', routines(np.fft)), ('np.random', routines(np.random)),
                         ('Generator', (n for n in dir(np.random.Generator) if not n.startswith('_'))),
                         ('ndarray', (n for n in dir(np.ndarray) if not n.startswith('_')))):
        for name in names:
            looked += 1
            if name not in words and name not in OLD and name not in METHODS_OF_PYTHON:
                missing.append(f'{where}.{name}')
    print(f'numpy index: {looked} names of NumPy {np.__version__}, {len(missing)} of them not in docs/numpy.md')
    for name in missing:
        print(f'docs/numpy.md says nothing of {name}')
    return 1 if missing or looked < 500 else 0


if __name__ == '__main__':
    sys.exit(main())

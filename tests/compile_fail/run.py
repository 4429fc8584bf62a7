"""Compile-fail tests: each wrong line is one token away from a right one, which must build; the wrong one must fail with
our sentence on the first line that says `error`, and within the cap of lines; or, where no function takes what is given,
with the compiler's sentence and candidates. No error is longer than CAP_BYTES, however long the lines of a compiler.

run.py --compiler COMMAND --cap LINES [--cuda]    COMMAND as the shell takes it, flags included
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

ANOTHER_DEVICE = 'cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)'
NOT_HERE = 'cudarray: the array is on another device: copy it with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)'
NOT_DEFINED = 'cudarray: this function is not defined for these dtypes (as in NumPy): convert with ca::astype<T>(x)'
NO_OPERAND = 'cudarray: an operand is neither an array nor a number'
LOSES = 'cudarray: this conversion of dtypes loses information: write ca::astype<T>(x)'
SCALAR = 'cudarray: name = scalar would rebind the name: write c(ca::_) = 0 or c.fill(0) to set the elements'
LOGICAL = 'cudarray: && and || cannot work element by element: write & and | (with parentheses), or ca::logical_and'
INDEX = 'cudarray: an index array must be of an integer dtype, or bool for a mask'
DTYPE = 'cudarray: not a dtype: bool, (u)int8-64, float16, bfloat16, float, double, complex64, complex128'
PRODUCT = "cudarray: out is not of the product's dtype: convert an operand with ca::astype<T>(x)"
UNIFORM = 'cudarray: random::uniform makes float or double'
NORMAL = 'cudarray: random::normal makes float or double'
NO_ARRAY = "cudarray: no argument here is an array: ca::array(v) makes one of a container; for numbers use std's function"
AXES = 'cudarray: a reduction takes axes, integers: ca::sum(x, {0, 1}); element by element it is ca::maximum(x, y), ca::minimum(x, y)'
OPTION = "cudarray: a reduction's options follow its axes: ca::sum(x, {0, 1}, ca::keepdims)"
NO_INDEX = 'cudarray: an index is integers, ca::slice, ca::_, ca::newaxis, ca::ellipsis, arrays of integers or masks'
FORMULA_RESULT = 'cudarray: einsum: a label of the result is of no operand'
FORMULA_OPERANDS = 'cudarray: einsum: there are not as many operands as the formula names'
PATTERN_NAMES = 'cudarray: rearrange: both sides of the pattern have the same names'
NUMBER = 'cudarray: an array is no number: write x.item() for its one element; for std::exp(x) and the like ca::exp(x)'
TRUTH = ('cudarray: arrays have no truth value: write x.item() of one element, or ca::any(x).item(), ca::all(x).item(); '
         'for std::max ca::maximum')
HOST_LAMBDA = ('cudarray: nvcc compiles this lambda for the host only: write [] CUDARRAY_HD(float e) { ... }, and give nvcc '
               '--extended-lambda')
LOGITS = 'cudarray: nnet::cross_entropy takes logits of a floating dtype: use ca::astype<float>(x)'
WITH_GRADIENT = ('cudarray: nnet::cross_entropy_and_gradient takes arrays: of variables nnet::cross_entropy(x, labels) has the '
                 'gradient by backward()')
CLASS_WEIGHTS = 'cudarray: nnet::cross_entropy has no gradient of weights: use ca::stop_gradient(weights)'
GRADIENT = ('cudarray: a function of variables would lose its gradient here: write ca::variable y = x, or use '
            'ca::stop_gradient(x)')
ELEMENTS = ("cudarray: a variable's elements cannot be assigned: use ca::where, or write into v.value() between steps; the name "
            'stands for another value by v = v + x')
REAL_PART = 'cudarray: a complex number for a real dtype: write its real part'
COMPLEX = 'cudarray: there are no gradients of complex numbers: use the parts, or ca::stop_gradient(x)'
FLOATING = 'cudarray: a variable is of float16, bfloat16, float or double: there are no gradients of other dtypes'
NO_DERIVATIVE = ('cudarray: a function in ca::map of variables has no derivative: write its member derivative(x, r), or use '
                 'ca::stop_gradient(x)')
NO_ARGUMENT = ('cudarray: no argument of the function holds variables: name those that gradients are wanted of, as in '
               'ca::grad<0>(f)')
NO_VALUE = ('cudarray: the value of the function that is differentiated is no floating-point array that was computed of '
            'variables')
TANGENTS = ('cudarray: jvp: behind the arguments of the function there is a tangent for each that is differentiated: for each '
            'that holds variables, for those at the positions that are named, or for all')
NO_DIRECTION = ("cudarray: jvp: this argument's dtype has no derivatives: float16, bfloat16, float and double do; derivatives "
                'of jvp itself are not offered')
NO_TEMPLATE = ("cudarray: jvp: this tree's type does not say what its variables are: make it a template, as template <class V> "
               'struct layer { V w, b; }, and give layer<ca::variable<float>>')
NO_TREE = ('cudarray: this class is not taken apart into variables: make it an aggregate, or give it auto members() { return '
           'std::tie(...); }')
NO_COPY = ('cudarray: a tree of references, as std::tie or std::span, or of const variables has no tree of gradients like it: '
           'use a tuple or a vector of variables, whose copies share elements')
NO_RESULT = ('cudarray: a result beside the value is not taken apart into variables, or refers to some: make it an aggregate of '
             'values, or give it auto members() { return std::tie(...); }')
ZETA = 'cudarray: zeta has no derivative by its first argument: write ca::stop_gradient(s)'
EXPONENTS = 'cudarray: ldexp: the exponents must be of an integer dtype'
BITS = 'cudarray: packbits: of integers and bool: write x != 0'
NO_ORDER = 'cudarray: complex numbers have no order, none is the largest'
WEIGHTS = 'cudarray: weights are real numbers: give the parts of complex ones one after another'
ONE_OF_EACH = 'cudarray: a histogram has one array of weights, and ca::density once'
SCATTER_INDEX = "cudarray: a scatter's index must be of an integer dtype"
ONE_ARRAY = 'cudarray: the value of a function that ca::checkpoint calls is one array'
NO_FUNCTION = re.compile('no matching function for call to|no instance of overloaded function')
CAP_BYTES = 12000

# right, wrong, sentence; f float, d double, i int32, b bool, g float on CUDA, z complex64, s a string, v a vector, w a
# variable
CASES = [
    ('auto r = f + d;', 'auto r = f + g;', ANOTHER_DEVICE),
    ('f += d;', 'f += g;', ANOTHER_DEVICE),
    ('auto r = ca::clip(f, d, 1);', 'auto r = ca::clip(f, g, 1);', ANOTHER_DEVICE),
    ('auto r = ca::where(b, f, d);', 'auto r = ca::where(b, f, g);', ANOTHER_DEVICE),
    ('f(0) = d;', 'f(0) = g;', NOT_HERE),
    ('f = d;', 'f = g;', NOT_HERE),
    ('ca::ndarray<float> n(d);', 'ca::ndarray<float> n(g);', NOT_HERE),
    ('auto r = ca::matmul(f, d);', 'auto r = ca::matmul(f, g);', ANOTHER_DEVICE),
    ('ca::matmul(f, f, ca::out(f));', 'ca::matmul(f, f, ca::out(g));', ANOTHER_DEVICE),
    ('ca::matmul(f, d, ca::out(d));', 'ca::matmul(f, d, ca::out(f));', PRODUCT),
    ('ca::exp(f, ca::out(d));', 'ca::exp(f, ca::out(g));', NOT_HERE),
    ('ca::where(b, f, 0, ca::out(d));', 'ca::where(b, f, 0, ca::out(g));', NOT_HERE),
    ('ca::clip(f, 0, 1, ca::out(d));', 'ca::clip(f, 0, 1, ca::out(g));', NOT_HERE),
    ('ca::random::uniform(0, 1, ca::out(f));', 'ca::random::uniform(0, 1, ca::out(i));', UNIFORM),
    ('auto r = ca::random::uniform<double>({2});', 'auto r = ca::random::uniform<ca::float16>({2});', UNIFORM),
    ('auto r = ca::random::normal<double>({2});', 'auto r = ca::random::normal<ca::float16>({2});', NORMAL),
    ('auto r = f + 1;', 'auto r = f + "1";', NO_OPERAND),
    ('auto r = f * 2.0;', 'auto r = f * s;', NO_OPERAND),
    ('auto r = f - f;', 'auto r = b - b;', NOT_DEFINED),
    ('auto r = -f;', 'auto r = -b;', NOT_DEFINED),
    ('auto r = i & i;', 'auto r = f & f;', NOT_DEFINED),
    ('auto r = ~i;', 'auto r = ~f;', NOT_DEFINED),
    ('auto r = f < f;', 'auto r = z < z;', NOT_DEFINED),
    ('auto r = i << 1;', 'auto r = f << 1;', NOT_DEFINED),
    ('ca::ndarray<int> n = i + 1;', 'ca::ndarray<int> n = f + 1;', LOSES),
    ('i = i + 1;', 'i = f + 1;', LOSES),
    ('f += 1.5;', 'i += 1.5;', LOSES),
    ('f(ca::_) = 0;', 'f = 0;', SCALAR),
    ('auto r = (f > 0) & (f < 1);', 'auto r = (f > 0) && (f < 1);', LOGICAL),
    ('auto r = b | b;', 'auto r = b || b;', LOGICAL),
    ('ca::ndarray<float> r = f(i);', 'ca::ndarray<float> r = f(d);', INDEX),
    ('ca::add(f, f, ca::out(f));', 'ca::add(ca::out(f), f, f);', NO_FUNCTION),
    ('auto r = ca::exp(f);', 'auto r = ca::exp(s);', NO_ARRAY),
    ('auto r = ca::sum(f, 1);', 'auto r = ca::sum(s, 1);', NO_ARRAY),
    ('auto r = std::sqrt(2.0);', 'auto r = ca::sqrt(2.0);', NO_ARRAY),
    ('auto r = std::pow(2.0, 3);', 'auto r = ca::power(2.0, 3);', NO_ARRAY),
    ('auto r = ca::sum(ca::array(v));', 'auto r = ca::sum(v);', NO_ARRAY),
    ('auto r = ca::where(b, f, 0);', 'auto r = ca::where(true, f, 0);', NO_ARRAY),
    ('auto r = ca::maximum(f, 0.f);', 'auto r = ca::max(f, 0.f);', AXES),
    ('ca::ndarray<float> r = 2 * ca::maximum(f + d, 0) + 1;', 'ca::ndarray<float> r = 2 * ca::max(f + d, f) + 1;', AXES),
    ('f += ca::minimum(f, f);', 'f += ca::min(f, f);', AXES),
    ('auto r = ca::sum(f, 1, ca::keepdims);', 'auto r = ca::sum(f, 1, true);', OPTION),
    ('auto r = ca::sum(f, ca::keepdims);', 'auto r = ca::sum(f, true);', OPTION),
    ('auto r = ca::sum(f, ca::keepdims);', 'auto r = ca::sum(f, {.keepdims = true});', OPTION),
    ('auto r = ca::var(f, ca::ddof{1});', 'auto r = ca::var(f, {.ddof = 1});', OPTION),
    ('auto r = ca::sum(f, 0, ca::keepdims);', 'auto r = ca::sum(f, {.axis = 0, .keepdims = true});', OPTION),
    ('auto r = ca::sum(f, {0, 1});', 'auto r = ca::sum(f, 0, 1);', OPTION),
    ('auto r = ca::einsum<"ij,jk->ik">(f, f);', 'auto r = ca::einsum<"ij,jk->il">(f, f);', FORMULA_RESULT),
    ('auto r = ca::einsum<"ij,jk->ik">(f, f);', 'auto r = ca::einsum<"ij,jk->ik">(f);', FORMULA_OPERANDS),
    ('auto r = ca::rearrange<"a b -> b a">(f);', 'auto r = ca::rearrange<"a b -> b c">(f);', PATTERN_NAMES),
    ('float r = ca::sum(f).item();', 'float r = ca::sum(f);', NUMBER),
    ('float r = (ca::sum(f) / 2 + 1).item();', 'float r = ca::sum(f) / 2 + 1;', NUMBER),
    ('float r = ca::std(f).item();', 'float r = ca::std(f);', NUMBER),
    ('int r = i(0).item();', 'int r = i(0);', NUMBER),
    ('float r = f(0).item();', 'float r = f(0);', NUMBER),
    ('bool r = ca::all(b).item();', 'bool r = ca::all(b);', NUMBER),
    ('auto r = ca::exp(f);', 'auto r = std::exp(f);', NUMBER),
    ('auto r = ca::abs(f);', 'auto r = std::abs(f);', NUMBER),
    ('if (ca::any(b).item()) f = d;', 'if (ca::any(b)) f = d;', TRUTH),
    ('if (ca::all(f == f).item()) f = d;', 'if (f == f) f = d;', TRUTH),
    ('while (f(0).item() > 0) f -= 1;', 'while (f(0) > 0) f -= 1;', TRUTH),
    ('auto r = ca::maximum(f, f);', 'auto r = std::max(f, f);', TRUTH),
    ('auto r = ca::where(b & b, f, d);', 'auto r = ca::where(b && b, f, d);', LOGICAL),
    ('f((f > 0) & (f < 1)) = 0;', 'f((f > 0) && (f < 1)) = 0;', LOGICAL),
    ('auto r = ca::any(b | b).item();', 'auto r = ca::any(b || b).item();', LOGICAL),
    ('ca::ndarray<float> r(ca::exp(b | b));', 'ca::ndarray<float> r(ca::exp(b || b));', LOGICAL),
    ('f(0) = 1;', 'f(0) = ca::complex64(1, 2);', REAL_PART),
    ('auto r = ca::to_complex(f, 0);', 'auto r = ca::to_complex(ca::variable<float>(f), 0);', COMPLEX),
    ('ca::ndarray<float> r = f(b, 0);', 'ca::ndarray<float> r = f(d, 0);', INDEX),
    ('f(b, 0) = 1;', 'f(b, 0.5) = 1;', NO_INDEX),
    ('auto r = (f + 1)(ca::_, i);', 'auto r = (f + 1)(ca::_, 1.5);', NO_INDEX),
    ('auto r = f(1);', 'auto r = f(1.5);', NO_INDEX),
    ('ca::ndarray<long> n;', 'ca::ndarray<long long> n;', DTYPE),
    ('w = w * 2;', 'f = w * 2;', GRADIENT),
    ('ca::variable r = ca::exp(w);', 'ca::ndarray<float> r = ca::exp(w);', GRADIENT),
    ('auto r = ca::nnet::cross_entropy(f, ca::astype<int>(f(0)));', 'auto r = ca::nnet::cross_entropy(ca::astype<int>(f), ca::astype<int>(f(0)));', LOGITS),
    ('auto r = ca::nnet::cross_entropy_and_gradient(f, i);', 'auto r = ca::nnet::cross_entropy_and_gradient(w, i);', WITH_GRADIENT),
    ('auto r = ca::nnet::cross_entropy_and_gradient(f, i);', 'auto r = ca::nnet::cross_entropy_and_gradient(i, i);', LOGITS),
    ('auto r = ca::nnet::cross_entropy(w, ca::astype<int>(f), f);', 'auto r = ca::nnet::cross_entropy(w, ca::astype<int>(f), w);', CLASS_WEIGHTS),
    ('auto r = ca::grad([](auto& x) { return ca::sum(x); })(w);', 'auto r = ca::grad([](auto& x) { return ca::sum(x); })(f);',
     NO_ARGUMENT),
    ('auto r = ca::grad([](auto& x) { return ca::sum(x); })(w);',
     'auto r = ca::grad([](auto& x) { return ca::stop_gradient(x); })(w);', NO_VALUE),
    ('auto r = ca::jvp([](auto& x) { return ca::exp(x); })(f, f);',
     'auto r = ca::jvp([](auto& x) { return ca::exp(x); })(f);', TANGENTS),
    ('auto r = ca::jvp([](auto& x) { return ca::exp(x); })(f, d);',
     'auto r = ca::jvp([](auto& x) { return ca::exp(x); })(i, i);', NO_DIRECTION),
    ('auto r = ca::hvp([](auto& x) { return ca::sum(x.w * x.w); })(tree<decltype(w)>{w}, tree<decltype(w)>{w});',
     'auto r = ca::hvp([](auto& x) { return ca::sum(x.w * x.w); })(fixed{w}, fixed{w});', NO_TEMPLATE),
    ('auto r = ca::tree_leaves(std::tuple(w, 1));', 'auto r = ca::tree_leaves(std::tuple(w, std::make_shared<int>(1)));',
     NO_TREE),
    ('ca::copyto(f, d);', 'ca::copyto(f, w);', GRADIENT),
    ('auto r = ca::zeta(2, w);', 'auto r = ca::zeta(w, 2);', ZETA),
    ('auto r = ca::ldexp(f, i);', 'auto r = ca::ldexp(f, d);', EXPONENTS),
    ('auto r = ca::packbits(b);', 'auto r = ca::packbits(f);', BITS),
    ('ca::scatter_max(f, i, d(0).item());', 'ca::scatter_max(z, i, 1);', NO_ORDER),
    ('auto r = ca::bincount(i, f);', 'auto r = ca::bincount(i, z);', WEIGHTS),
    ('auto r = ca::histogram(f, 3, {}, d);', 'auto r = ca::histogram(f, 3, {}, d, d);', ONE_OF_EACH),
    ('auto r = ca::polyval(d, f);', 'auto r = ca::polyval(d, g);', ANOTHER_DEVICE),
    ('auto r = ca::convolve(d, f);', 'auto r = ca::convolve(d, g);', ANOTHER_DEVICE),
    ('ca::scatter_add(f, i, 1);', 'ca::scatter_add(f, d, 1);', SCATTER_INDEX),
    ('f(0) = d(0);', 'f(0) = w(0);', GRADIENT),
    ('f += f;', 'f += w;', GRADIENT),
    ('f(b) = f;', 'f(b) = w;', GRADIENT),
    ('ca::exp(f, ca::out(f));', 'ca::exp(w, ca::out(f));', GRADIENT),
    ('w = w + 1;', 'w += 1;', ELEMENTS),
    ('w.value()(0) = 1;', 'w(0) = 1;', ELEMENTS),
    ('ca::variable<double> r;', 'ca::variable<int> r;', FLOATING),
    ('auto r = ca::grad([](auto& x) { return std::tuple(ca::sum(x), 1); })(w);',
     'auto r = ca::grad([](auto& x) { return std::tuple(ca::sum(x), std::make_shared<int>(1)); })(w);', NO_RESULT),
    ('auto r = ca::grad([](auto& t) { return ca::sum(std::get<0>(t)); })(std::tuple(w));',
     'auto r = ca::grad([](auto& t) { return ca::sum(std::get<0>(t)); })(std::tie(w));', NO_COPY),
    ('auto r = ca::checkpoint([](auto& x) { return ca::sum(x); })(w);',
     'auto r = ca::checkpoint([](auto& x) { return std::tuple(ca::sum(x), x); })(w);', ONE_ARRAY),
    ('auto r = ca::eval(ca::map([](float e) { return e + 1; }, f));', 'auto r = ca::eval(ca::map([](float e) { return e + 1; }, w));', NO_DERIVATIVE),
    ('ca::variable r = w + f;', 'ca::variable r = w + g;', ANOTHER_DEVICE),
    ('float r = w(0).item();', 'float r = w(0);', NUMBER),
]

# For nvcc alone.
CUDA_CASES = [
    ('auto r = ca::map([] CUDARRAY_HD(float e) { return e + 1; }, g);', 'auto r = ca::map([](float e) { return e + 1; }, g);', HOST_LAMBDA),
    ('auto r = ca::map([](float e) { return e + 1; }, f);', 'auto r = ca::map([=](auto e) { return e + 1; }, g);', HOST_LAMBDA),
]
# What compiles, as no mistake is meant.
RIGHT = [
    'ca::ndarray<float> r = ca::array({1.5, 2.5}), q = ca::array({{1, 2}, {3, 4}});',
    'long n = 1; auto r = ca::sum(f, {}) + ca::sum(f, {0}) + ca::sum(f, {0, n}) + ca::sum(f, n);',
    'struct { void operator()(double) {} void operator()(ca::ndarray<float, ca::cpu>) {} } over; over(f), over(f + d), over(2.f);',
    'struct twice { CUDARRAY_HD float operator()(float e) const { return 2 * e; } }; auto r = ca::map(twice{}, f); auto q = ca::map(twice{}, g);',
    'ca::float16 h(2.f); double r = sqrt(h);',
]

PREAMBLE = '''#include <cudarray/cudarray.hpp>
#include <cudarray/autograd.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>
namespace ca = cudarray;
template <class V>
struct tree {
  V w;
};
struct fixed {
  ca::variable<float, ca::cpu> w;
};
'''
FUNCTION = '''void {name}(ca::ndarray<float, ca::cpu> f, ca::ndarray<double, ca::cpu> d, ca::ndarray<int, ca::cpu> i,
    ca::ndarray<bool, ca::cpu> b, ca::ndarray<float, ca::cuda> g, ca::ndarray<ca::complex64, ca::cpu> z, std::string s,
    std::vector<float> v, ca::variable<float, ca::cpu> w) {{
  {line}
}}
'''


def build(compiler, text, cuda):
    """Compiles a text; returns (succeeded, lines of output)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'case.cu' if cuda else 'case.cpp')
        with open(path, 'w') as f:
            f.write(text)
        done = subprocess.run(shlex.split(compiler) + ['-c', path, '-o', os.path.join(folder, 'case.o')], capture_output=True, text=True)
        return done.returncode == 0, (done.stdout + done.stderr).splitlines()


def check(compiler, cap, cuda, case):
    """What is wrong with how a wrong line fails; None if nothing is."""
    right, wrong, sentence = case
    ok, lines = build(compiler, PREAMBLE + FUNCTION.format(name='f0', line=wrong), cuda)
    if ok:
        return f'{wrong}  compiles'
    first = next((line for line in lines if re.search(r'\berror\b', line)), '')
    if not (sentence.search(first) if sentence is NO_FUNCTION else sentence in first):
        return f'{wrong}  fails with: {first or lines[:1]}'
    if (length := sum(len(line) + 1 for line in lines)) > CAP_BYTES:
        return f'{wrong}  fails with {length} characters, {CAP_BYTES} are allowed'
    if len(lines) > cap and sentence is not NO_FUNCTION:
        return f'{wrong}  fails with {len(lines)} lines, {cap} are allowed:\n    ' + '\n    '.join(lines)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--compiler', required=True)
    parser.add_argument('--cap', type=int, required=True)
    parser.add_argument('--cuda', action='store_true')
    a = parser.parse_args()
    failures = []
    # nvcc takes 12 s for each: one of every sentence
    cases = list({c[2]: c for c in reversed(CASES)}.values()) + CUDA_CASES if a.cuda else CASES
    lines = [right for right, _, _ in cases] + RIGHT
    twins = ''.join(FUNCTION.format(name=f'twin{k}', line=line) for k, line in enumerate(lines))
    ok, lines = build(a.compiler, PREAMBLE + twins, a.cuda)
    if not ok:
        failures.append('the right lines do not compile:\n    ' + '\n    '.join(lines[:20]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures += [r for r in pool.map(lambda c: check(a.compiler, a.cap, a.cuda, c), cases) if r]
    for f in failures:
        print(f)
    print(f'compile-fail: {len(cases)} cases, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

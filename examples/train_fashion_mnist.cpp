// Trains a neural network on Fashion-MNIST by SGD with momentum; the same source on CPU and CUDA.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cudarray/autograd.hpp>
#include <cudarray/cudarray.hpp>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "picture.hpp"

namespace ca = cudarray;
using array = ca::ndarray<float>;
using labels = ca::ndarray<ca::int64>;

namespace {

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  std::string net = "mlp", data = "/usr/share/datasets/fashion-mnist", save;
  int epochs = 5, batch = 64;
  double lr = 0.02;
  unsigned long seed = 1;
  bool graph = false;
};

const char* const help =
    "train_fashion_mnist [--net mlp|conv] [--epochs N] [--batch N] [--lr X] [--seed N] [--data FOLDER] [--save "
    "FOLDER] [--graph]\n"
    "\n"
    "  --net     mlp: 784-512-256-10; conv: two 5x5 convolutions with pooling, dropout, 512, 10   (mlp)\n"
    "  --epochs  passes over the 60,000 training images                                          (5)\n"
    "  --batch   images in a step                                                                (64)\n"
    "  --lr      learning rate of SGD with momentum 0.9; it falls to 0 along a cosine            (0.02)\n"
    "  --seed    seed of weights, order and dropout                                              (1)\n"
    "  --data    folder of the four IDX files, gzipped or not        (/usr/share/datasets/fashion-mnist)\n"
    "  --save    folder for weights (.npy), learning_curve.png and filters.png                   (nothing is saved)\n"
    "  --graph   on CUDA: a step is captured once, then launched as a whole; the same bits, fewer calls\n";

double number(const std::string& flag, const std::string& text, double low) {
  char* end;
  const double v = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(v >= low) || !std::isfinite(v))
    throw usage_error(flag + " " + text + ": a number of at least " + std::to_string(int(low)) + " is wanted");
  return v;
}
int whole(const std::string& flag, const std::string& text) {
  const double v = number(flag, text, 1);
  if (v != std::floor(v) || v > 1e9) throw usage_error(flag + " " + text + ": a whole number is wanted");
  return int(v);
}

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help") {
      std::fputs(help, stdout);
      std::exit(0);
    }
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw usage_error(flag + ": a value is missing");
      return argv[++i];
    };
    if (flag == "--net") o.net = value();
    else if (flag == "--epochs") o.epochs = whole(flag, value());
    else if (flag == "--batch") o.batch = whole(flag, value());
    else if (flag == "--lr") o.lr = number(flag, value(), 0);
    else if (flag == "--seed") o.seed = static_cast<unsigned long>(number(flag, value(), 0));
    else if (flag == "--data") o.data = value();
    else if (flag == "--save") o.save = value();
    else if (flag == "--graph") o.graph = true;
    else throw usage_error(flag + ": not an option (--help lists them)");
  }
  if (o.net != "mlp" && o.net != "conv") throw usage_error("--net " + o.net + ": mlp or conv is wanted");
  return o;
}

#if defined(CUDARRAY_HAS_CUDA)
using ca::graph;
#else
struct graph {
  template <class F>
  static graph capture(const F&) {
    throw usage_error("--graph: this program was built without CUDA");
  }
  void launch() const {}
};
#endif

/// Images as bytes on the device; a batch is picked, converted and normalised in one kernel.
struct data_set {
  ca::ndarray<ca::uint8> images;  // (n, 784)
  labels truth;                   // (n,)

  ca::int64 size() const { return truth.size(); }
  array batch(const labels& which) const {
    // mean and standard deviation of the training images
    return (ca::astype<float>(ca::take(images, which)) * (1 / 255.f) - 0.2860f) / 0.3530f;
  }
};

data_set load(const std::string& folder, const std::string& part) {
  const auto path = [&](const std::string& name) {
    const std::string plain = folder + "/" + part + "-" + name;
    return std::filesystem::exists(plain) ? plain : plain + ".gz";
  };
  const auto images = ca::load_idx(path("images-idx3-ubyte"), 3);
  const auto truth = ca::load_idx(path("labels-idx1-ubyte"), 1);
  if (images.shape(0) != truth.shape(0) || images.shape(1) != 28 || images.shape(2) != 28)
    throw ca::io_error(folder + ": " + part + " images of shape " + images.shape().str() + " and labels of shape " +
                       truth.shape().str() + " do not belong together");
  if (truth.size() == 0) throw ca::io_error(folder + ": the " + part + " images are none");
  if (const int label = ca::max(truth).item(); label > 9)
    throw ca::io_error(path("labels-idx1-ubyte") + ": a label is " + std::to_string(label) +
                       ", where 0 to 9 are known");
  return {ca::to<ca::default_device>(ca::reshape(images, {images.shape(0), 784})),
          ca::to<ca::default_device>(ca::astype<ca::int64>(truth))};
}

/// y = x w + b.
struct dense {
  ca::variable<float> w, b;
  dense(int in, int out) : w(ca::random::normal({in, out}, 0, float(std::sqrt(1. / in)))), b(ca::zeros({out})) {}
  auto members() { return std::tie(w, b); }
  template <class X>
  auto operator()(const X& x) const {
    return ca::matmul(x, w) + b;
  }
};

/// y = conv(x, w) + b, with padding that keeps the size.
struct convolution {
  ca::variable<float> w, b;
  convolution(int in, int out)
      : w(ca::random::normal({out, in, 5, 5}, 0, float(std::sqrt(1. / (25 * in))))), b(ca::zeros({out, 1, 1})) {}
  auto members() { return std::tie(w, b); }
  template <class X>
  auto operator()(const X& x) const {
    return ca::nnet::conv2d(x, w, {.padding = 2}) + b;
  }
};

struct mlp {
  dense dense1{784, 512}, dense2{512, 256}, dense3{256, 10};

  ca::variable<float> scores(const array& x, bool) const {
    return dense3(ca::nnet::relu(dense2(ca::nnet::relu(dense1(x)))));
  }
  std::vector<std::string> layers() const { return {"dense1", "dense2", "dense3"}; }
  picture::image filters() const {
    const auto w = ca::to<ca::cpu>(ca::copy(dense1.w.value().t()(ca::slice(64))));
    return picture::tiles({w.data(), w.data() + w.size()}, 64, 28, 28, 2);
  }
};

struct convnet {
  convolution conv1{1, 32}, conv2{32, 64};
  dense dense1{3136, 512}, dense2{512, 10};

  ca::variable<float> scores(const array& x, bool training) const {
    const auto halved = [](const auto& a) { return ca::nnet::max_pool2d(ca::nnet::relu(a), {.window = 2}); };
    const ca::variable a = halved(conv2(halved(conv1(ca::reshape(x, {x.shape(0), 1, 28, 28})))));
    ca::variable flat = ca::reshape(a, {x.shape(0), 3136});
    if (training) flat = ca::nnet::dropout(flat, 0.25);
    return dense2(ca::nnet::relu(dense1(flat)));
  }
  std::vector<std::string> layers() const { return {"conv1", "conv2", "dense1", "dense2"}; }
  picture::image filters() const {
    const auto w = ca::to<ca::cpu>(conv1.w.value());
    return picture::tiles({w.data(), w.data() + w.size()}, 32, 5, 5, 12);
  }
};

/// SGD with momentum: writes through, so that a captured step updates what the next one reads; `rate` is of shape ().
/// Returns the loss of the batch, averaged.
template <class Net>
array train_step(Net& net, Net& momentum, const array& x, const array& truth, const array& rate) {
  const auto loss = [&](const Net& n) { return ca::mean(ca::nnet::softmax_cross_entropy(n.scores(x, true), truth)); };
  const auto [value, gradients] = ca::value_and_grad(loss)(net);
  const auto update = [&](auto& weight, auto& m, const auto& g) {
    m.value()(ca::ellipsis) = 0.9f * m.value() - rate * g.value();
    weight.value() += m.value();
  };
  ca::tree_for_each(update, net, momentum, gradients);
  return value;
}

template <class Net>
double accuracy(const Net& net, const data_set& data) {
  const ca::no_grad guard;
  ca::int64 right = 0;
  const ca::int64 step = 1000;
  for (ca::int64 i = 0; i < data.size(); i += step) {
    const labels which = ca::arange(i, std::min(i + step, data.size()));
    right +=
        ca::sum(ca::nnet::one_hot_decode(net.scores(data.batch(which), false).value()) == ca::take(data.truth, which))
            .item();
  }
  return double(right) / double(data.size());
}

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

template <class Net>
void run(const options& o) {
  const double start = seconds();
  if (!o.save.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(o.save, failed);
    if (failed) throw ca::io_error(o.save + ": " + failed.message());
  }
  const data_set train = load(o.data, "train"), test = load(o.data, "t10k");
  ca::random::seed(o.seed);
  Net net;
  Net momentum = ca::tree_map([](const auto& v) { return ca::zeros(v.shape()); }, net);
  std::printf("%s on %s: %ld training images, %ld test images, batches of %d\n", o.net.c_str(),
              ca::default_device::name, long(train.size()), long(test.size()), o.batch);
  const bool terminal = isatty(STDOUT_FILENO);
  const int steps = int((train.size() + o.batch - 1) / o.batch), total = o.epochs * steps;
  std::vector<double> losses, accuracies;
  const double begin = seconds();
  array rate = ca::zeros({});
  const array x = ca::empty({o.batch, 784}), truth = ca::empty({o.batch, 10});
  array loss;
  std::unique_ptr<graph> step;
  for (int epoch = 0; epoch < o.epochs; ++epoch) {
    const labels order = ca::random::permutation(train.size());
    const double epoch_begin = seconds();
    double shown = epoch_begin, sum = 0;
    std::vector<array> pending;  // losses not fetched yet: fetching waits for the device
    const auto fetch = [&] {
      for (const array& l : pending) {
        losses.push_back(l.item());
        sum += losses.back();
      }
      pending.clear();
    };
    for (int s = 0; s < steps; ++s) {
      const labels which = order(ca::slice(s * ca::int64(o.batch), (s + 1) * ca::int64(o.batch)));
      const double progress = double(epoch * steps + s) / total, lr = o.lr * 0.5 * (1 + std::cos(progress * M_PI));
      rate.fill(lr);
      const auto images = train.batch(which), wanted = ca::nnet::one_hot_encode(ca::take(train.truth, which), 10);
      if (o.graph && which.size() == o.batch) {
        ca::copyto(x, images);
        ca::copyto(truth, wanted);
        if (!step)
          step = std::make_unique<graph>(graph::capture([&] { loss = train_step(net, momentum, x, truth, rate); }));
        step->launch();
        pending.push_back(loss.copy());
      } else {
        pending.push_back(train_step(net, momentum, images, wanted, rate));
      }
      const bool last = s + 1 == steps;
      if (last || (terminal && seconds() - shown > 0.2)) {
        fetch();
        shown = seconds();
        const double done = double(epoch * steps + s + 1), left = (shown - begin) / done * (total - done);
        if (terminal) std::printf("\r");
        if (terminal || last)
          std::printf("epoch %d/%d  %3d %%  %7.0f images/s  loss %.4f  %4.0f s left ", epoch + 1, o.epochs,
                      (s + 1) * 100 / steps, double(s + 1) * o.batch / (shown - epoch_begin), sum / (s + 1), left);
        std::fflush(stdout);
      }
    }
    accuracies.push_back(accuracy(net, test));
    std::printf("\ntest accuracy %.4f\n", accuracies.back());
    std::fflush(stdout);
  }
  std::printf("trained in %.1f s (%.1f s with loading)\n", seconds() - begin, seconds() - start);
  if (!o.save.empty()) {
    const auto weights = ca::tree_leaves(net);
    for (std::size_t k = 0; k < weights.size(); ++k)
      ca::save(o.save + "/" + net.layers()[k / 2] + (k % 2 == 0 ? "_w.npy" : "_b.npy"), weights[k].value());
    picture::write_png(o.save + "/learning_curve.png", picture::learning_curve(losses, accuracies));
    picture::write_png(o.save + "/filters.png", net.filters());
    std::printf("saved weights and pictures in %s\n", o.save.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const options o = parse(argc, argv);
    if (o.net == "mlp") run<mlp>(o);
    else run<convnet>(o);
  } catch (const usage_error& e) {
    std::fprintf(stderr, "train_fashion_mnist: %s\n", e.what());
    return 2;
  } catch (const ca::io_error& e) {
    std::fprintf(stderr, "train_fashion_mnist: %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "train_fashion_mnist: %s\n", e.what());
    return 1;
  }
}

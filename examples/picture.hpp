#pragma once
#include <string>
#include <vector>
namespace picture { struct image{}; inline void write_png(const std::string&, const image&){} inline image learning_curve(const std::vector<double>&, const std::vector<double>&){return {};} inline image tiles(const std::vector<float>&, int,int,int,int){return {};} }

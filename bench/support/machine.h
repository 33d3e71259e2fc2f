#pragma once

namespace gpupool::bench {

// How many cores of this machine work, whoever for, on average since it was made. What a time cannot say:
// whether it was spent waiting.
class BusyCores {
 public:
  BusyCores();
  double since() const;

 private:
  double began_s_;
  double cpu_s_;
};

}  // namespace gpupool::bench

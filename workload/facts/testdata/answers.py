# The answers of SciPy that the tests of this package compare with:
#
#     python3 answers.py
#
# writes samples.csv and answers.csv. The files are by SciPy 1.10.1 and NumPy 1.24.2.

import csv

import numpy
from scipy import stats

random = numpy.random.default_rng(16)
pairs = {
    "alike": ([1, 2, 3, 4], [1, 2, 3, 4]),
    "apart": ([1, 2, 3], [10, 20, 30, 40]),
    "touching": ([1, 2, 2, 5], [5, 5, 9]),
    "one": ([7], [3]),
    "ties": (random.integers(0, 12, 400), random.integers(2, 10, 150)),
    "lengths": (random.lognormal(6, 2.5, 500).astype(int), random.lognormal(7, 1.8, 300).astype(int)),
    "sizes": (2 ** random.integers(0, 8, 350), random.integers(1, 129, 500)),
}
quantiles = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1]

with open("samples.csv", "w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["pair", "side", "value"])
    for name, sides in pairs.items():
        for side, values in zip("ab", sides):
            out.writerows([name, side, v] for v in values)

with open("answers.csv", "w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["what", "value"])
    for name, (a, b) in pairs.items():
        out.writerow([name + " ks", repr(float(stats.ks_2samp(a, b).statistic))])
        out.writerow([name + " w1", repr(float(stats.wasserstein_distance(a, b)))])
        for side, values in (("a", a), ("b", b)):
            out.writerow([f"{name} {side} mean", repr(float(numpy.mean(values)))])
            if len(values) > 1:
                out.writerow([f"{name} {side} deviation", repr(float(numpy.std(values, ddof=1)))])
            for q in quantiles:
                out.writerow([f"{name} {side} {q}", repr(float(numpy.quantile(values, q)))])

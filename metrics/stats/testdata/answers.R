# The answers of R that the tests of this package compare with:
#
#     Rscript answers.R >answers.csv
#
# R's own packages only.

say <- function(what, value) cat(sprintf("%s,%.15g\n", what, value))
cat("what,value\n")

pairs <- read.csv("pairs.csv")
for (set in unique(pairs$set)) {
  x <- pairs$x[pairs$set == set]
  y <- pairs$y[pairs$set == set]
  tell <- function(what, value) say(paste(set, what), unname(value))

  t <- t.test(x, y, paired = TRUE)
  tell("mean", t$estimate)
  tell("low", t$conf.int[1])
  tell("high", t$conf.int[2])
  tell("t", t$statistic)
  tell("p of t", t$p.value)
  tell("d", mean(x - y) / sd(x - y))

  w <- suppressWarnings(wilcox.test(x, y, paired = TRUE))
  tell("signed ranks", w$statistic)
  tell("p of signed ranks", w$p.value)
  d <- (x - y)[x != y]
  tell("rank-biserial", sum(rank(abs(d)) * sign(d)) / sum(rank(abs(d))))

  tell("ratio", mean(x) / mean(y))
  excess <- function(r, side) t.test(x - r * y)$conf.int[side]
  tell("ratio low", uniroot(excess, c(-5, mean(x) / mean(y)), side = 1, tol = 1e-14)$root)
  tell("ratio high", uniroot(excess, c(mean(x) / mean(y), 5), side = 2, tol = 1e-14)$root)

  for (p in c(0.1, 0.5, 0.9)) {
    n <- length(x)
    order <- c(-Inf, sort(x), Inf)  # [1] is below all
    tell(paste("quantile", p), quantile(x, p))
    tell(paste("quantile", p, "low"), order[1 + qbinom(0.025, n, p)])
    tell(paste("quantile", p, "high"), order[2 + qbinom(0.975, n, p)])
  }
}

p <- c(0.01, 0.04, NA, 0.03, 0.005, 0.6, 0.03)
for (method in c("bonferroni", "holm", "BH")) {
  adjusted <- p.adjust(p, method)
  for (i in seq_along(p)) say(paste(method, i), adjusted[i])
}

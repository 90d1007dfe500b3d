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

series <- read.csv("series.csv")$value
k <- floor(length(series) / 5)
fives <- colMeans(matrix(series[1:(5 * k)], nrow = 5))
errors <- sapply(0:(k - 5), function(d) {
  rest <- fives[(d + 1):k]
  sum((rest - mean(rest))^2) / length(rest)^2
})
cut <- 5 * (which.min(errors) - 1)
say("MSER-5", cut)
steady <- series[(cut + 1):length(series)]
say("steady mean", mean(steady))
for (n in c(10, 20)) {
  tell <- function(what, value) say(paste(n, "batches:", what), unname(value))
  batch <- findInterval(seq_along(steady) - 1, floor((0:n) * length(steady) / n))
  means <- tapply(steady, batch, mean)
  t <- t.test(means)
  tell("half width", diff(t$conf.int) / 2)
  tell("lag 1", acf(means, 1, plot = FALSE)$acf[2])
  statistic <- 1 - sum(diff(means)^2) / (2 * sum((means - mean(means))^2))
  tell("p", pnorm(statistic / sqrt((n - 2) / (n^2 - 1)), lower.tail = FALSE))
}

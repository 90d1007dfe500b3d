# The answers of R that the tests of this package compare with:
#
#     Rscript answers.R >answers.csv
#
# R's own packages only. The file is by R 4.2.2.

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
}

p <- c(0.01, 0.04, NA, 0.03, 0.005, 0.6, 0.03)
for (method in "holm") {
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

grid <- read.csv("grid.csv", colClasses = c("factor", "factor", "factor", "factor", "numeric"))
analyse <- function(formula, name) {
  table <- summary(aov(formula, grid))[[1]]
  for (i in seq_len(nrow(table))) {
    effect <- paste(name, trimws(rownames(table)[i]))
    say(paste(effect, "degrees"), table[i, "Df"])
    say(paste(effect, "share"), table[i, "Sum Sq"] / sum(table[, "Sum Sq"]))
    say(paste(effect, "F"), table[i, "F value"])
    say(paste(effect, "p"), table[i, "Pr(>F)"])
  }
}
analyse(y ~ (policy + load + model)^2, "plain")
analyse(y ~ (policy + load + model)^2 + seed, "blocks")

sample <- read.csv("sample.csv")
ranks <- data.frame(y = rank(sample$y), load = rank(sample$load), policy = sample$policy,
                    depth = rank(sample$depth), noise = rank(sample$noise))
full <- lm(y ~ load + policy + depth + noise, ranks)
say("R2", summary(full)$r.squared)
for (what in c("load", "depth", "noise")) {
  tell <- function(name, value) say(paste(what, name), unname(value))
  t <- cor.test(sample[[what]], sample$y, method = "spearman", exact = FALSE)
  tell("correlation", t$estimate)
  tell("p", t$p.value)
  tell("coefficient", coef(full)[what] * sd(ranks[[what]]) / sd(ranks$y))
}
h <- kruskal.test(y ~ factor(policy), sample)
say("policy alone", h$statistic / (nrow(sample) - 1))
say("policy p", h$p.value)
for (what in c("load", "policy", "depth", "noise")) {
  less <- lm(as.formula(paste("y ~ load + policy + depth + noise -", what)), ranks)
  say(paste(what, "unique"), summary(full)$r.squared - summary(less)$r.squared)
}

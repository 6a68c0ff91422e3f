# Computes the season, the years and the trend of a series another way, with R's own functions.
#
# Rscript statistics.R FILE.csv    with the columns date and chl; prints lines of a name and numbers
v <- read.csv(commandArgs(TRUE)[1])
v$date <- as.Date(v$date)
v$year <- as.integer(format(v$date, "%Y"))
v$month <- as.integer(format(v$date, "%m"))
v$doy <- as.integer(format(v$date, "%j"))
leap <- (v$year %% 4 == 0 & v$year %% 100 != 0) | v$year %% 400 == 0
v$doy <- v$doy - (leap & v$doy > 59)
say <- function(...) cat(..., "\n", sep = " ")

for (day in seq(4, 364, 7)) {
  d <- abs(v$doy - day)
  inside <- v[pmin(d, 365 - d) <= 15, ]
  year <- inside$year + (inside$doy - day > 182) - (day - inside$doy > 182)
  if (length(unique(year)) >= 3)
    say("band", day, format(quantile(inside$chl, c(.1, .25, .5, .75, .9), names = FALSE), digits = 15), nrow(inside), length(unique(year)))
}

for (y in sort(unique(v$year))) {
  of <- v[v$year == y, ]
  if (nrow(of) < 8 || length(unique(of$month)) < 5) next
  most <- which.max(of$chl)
  above <- of$chl > 1.05 * median(of$chl)
  gap <- c(FALSE, as.integer(diff(of$date)) > 45)
  first <- most
  while (first > 1 && above[first - 1] && !gap[first]) first <- first - 1
  last <- most
  while (last < nrow(of) && above[last + 1] && !gap[last + 1]) last <- last + 1
  say("year", y, nrow(of), format(c(mean(of$chl), median(of$chl), max(of$chl)), digits = 15), as.integer(of$date[most]), as.integer(of$date[first]), as.integer(of$date[last]))
}

# The seasonal test of Kendall with covariances, written with matrices of signs.
years <- min(v$year):max(v$year)
x <- matrix(NA_real_, length(years), 12)
for (i in seq_along(years)) for (m in 1:12) {
  of <- v$chl[v$year == years[i] & v$month == m]
  if (length(of)) x[i, m] <- median(of)
}
if (sum(rowSums(!is.na(x)) > 0) >= 10) {
  n <- nrow(x)
  upper <- upper.tri(matrix(0, n, n))
  signs <- lapply(1:12, function(g) { s <- sign(outer(x[, g], x[, g], function(a, b) b - a)); s[is.na(s)] <- 0; s })
  S <- sum(sapply(signs, function(s) sum(s[upper])))
  counts <- colSums(!is.na(x))
  ranks <- sapply(1:12, function(g) { r <- rank(x[, g], na.last = "keep"); r[is.na(r)] <- (counts[g] + 1) / 2; r })
  variance <- 0
  for (g in 1:12) for (h in 1:12)
    variance <- variance + (sum((signs[[g]] * signs[[h]])[upper]) + 4 * sum(ranks[, g] * ranks[, h]) - n * (counts[g] + 1) * (counts[h] + 1)) / 3
  slopes <- unlist(lapply(1:12, function(g) { d <- outer(x[, g], x[, g], function(a, b) b - a) / outer(1:n, 1:n, function(a, b) b - a); d[upper] }))
  z <- max(abs(S) - 1, 0) / sqrt(variance)
  say("trend", format(c(median(slopes, na.rm = TRUE), 2 * pnorm(-z), S, variance), digits = 15), n)
}

# With one month in each year it is the test of Mann and Kendall, which R has.
july <- aggregate(chl ~ year, v[v$month == 7, ], median)
if (nrow(july) >= 10) {
  p <- if (length(unique(july$chl)) > 1) cor.test(july$year, july$chl, method = "kendall", exact = FALSE, continuity = TRUE)$p.value else 1
  say("kendall", format(p, digits = 15))
}

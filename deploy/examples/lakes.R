# Prints the closed lakes and those with the highest values from a limnomap server, and draws a lake's history with its gaps as gaps.
#
#     Rscript lakes.R http://127.0.0.1:8080 de_be_langer_see history.png
#
# Needs only R, without packages.
arguments <- commandArgs(trailingOnly = TRUE)
argument <- function(i, default) if (length(arguments) >= i) arguments[i] else default
server <- sub("/+$", "", argument(1, "http://127.0.0.1:8080"))
lake <- argument(2, "de_be_langer_see")
picture <- argument(3, "history.png")

# ask reads a table, with a few retries while the server is overloaded (503) or limits this address (429).
# Empty fields become NA. Ids and names are read as text, even "0012".
ask <- function(path, ...) {
  for (try in 1:4) {
    answer <- tryCatch(
      read.csv(paste0(server, path), na.strings = "", encoding = "UTF-8", ...),
      error = identity, warning = identity
    )
    if (is.data.frame(answer)) return(answer)
    passing <- grepl("status was '(429|502|503|504)|[Cc]ould.*connect|[Tt]imeout", conditionMessage(answer))
    if (!passing || try == 4) stop(conditionMessage(answer), call. = FALSE)
    Sys.sleep(2^try)
  }
}

status <- ask("/api/v1/bathing-lakes/status.csv", colClasses = c(id = "character", name = "character", advisory = "character"))
cat(nrow(status), "lakes,", sum(!is.na(status$chl)), "with a current value\n")
# A closure outranks every value, also of a lake without one.
closures <- status$id[status$advisory %in% "closure"]
if (length(closures) > 0) cat("CLOSED by an official statement:", closures, "\n")
highest <- status[!is.na(status$chl), ]
highest <- head(highest[order(-highest$chl, highest$id), ], 5)
highest$chl <- sprintf("%.2f", highest$chl)
highest$advisory[is.na(highest$advisory)] <- ""
highest$advisory[highest$advisory == "closure"] <- "CLOSED"
print(highest[c("id", "advisory", "chl", "risk", "measured_at")], row.names = FALSE)
# Not zero and not clean: their risk is that of the last known value.
cat("without a current value:", head(status$id[is.na(status$chl)], 5), "\n")

history <- ask( # without limit= the newest 104 entries
  paste0("/api/v1/bathing-lakes/history/", URLencode(lake, reserved = TRUE), ".csv?limit=5200"),
  colClasses = c(lake_id = "character", date = "Date", chl = "numeric", data_type = "character")
)
if (nrow(history) == 0) {
  cat(lake, "never had a value: there is nothing to draw\n")
  quit()
}
history <- history[order(history$date), ]
measured <- history[history$data_type == "satellite", c("date", "chl")]
samples <- history[history$data_type == "in_situ", c("date", "chl")]
forecast <- history[history$data_type == "ai_forecast", c("date", "chl")]
none <- measured$date[is.na(measured$chl)]
cat(lake, "has", sum(!is.na(measured$chl)), "values,", length(none), "gaps,", nrow(samples), "samples and", nrow(forecast), "forecasts\n")

# A line breaks at NA. Weeks missing in the table are gaps too.
apart <- which(diff(measured$date) > 10)
measured <- rbind(measured, data.frame(date = measured$date[apart] + 5, chl = rep(NA_real_, length(apart))))
measured <- measured[order(measured$date), ]

name <- status$name[match(lake, status$id)]
png(picture, width = 900, height = 450)
plot(
  range(history$date), c(0, max(10, history$chl, na.rm = TRUE)),
  type = "n", xlab = "", ylab = "chlorophyll-a, µg/l", main = name
)
abline(h = c(10, 50), lty = "dotted") # WHO 2003; they hold where cyanobacteria dominate
lines(measured$date, measured$chl, type = "o", pch = 16, lwd = 2, col = "#0a6f94")
points(samples$date, samples$chl, pch = 15, col = "#263238")
points(forecast$date, forecast$chl, pch = 1, col = "#0a6f94")
points(none, rep(par("usr")[3], length(none)), xpd = NA, pch = 4, col = "#9aa0a6")
legend("topleft", c("satellite", "sample", "forecast", "no value"), pch = c(16, 15, 1, 4),
  col = c("#0a6f94", "#263238", "#0a6f94", "#9aa0a6"), bty = "n")
closed <- dev.off()

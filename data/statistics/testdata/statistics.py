# Computes the statistics of series with functions of pandas, numpy and scipy.
#
# python3 statistics.py FILE.csv...    with the columns date and chl; prints lines of a name and values, and an empty line after each file
import sys

import numpy as np
import pandas as pd
from scipy import stats


def say(name, *values):
    print(name, *(x if isinstance(x, str) else f"{x:.10g}" for x in values))


def window(v, day):
    """Returns the values within 15 days of a day of the year, with the year of the window's middle."""
    apart = (v.doy - day + 182) % 365 - 182
    w = v[apart.abs() <= 15].copy()
    w["middle"] = w.year + (w.doy - day - apart[w.index]) // 365
    return w


for name in sys.argv[1:]:
    v = pd.read_csv(name, parse_dates=["date"])
    v["year"] = v.date.dt.year
    leap = v.date.dt.is_leap_year & (v.date.dt.dayofyear > 59)
    v["doy"] = v.date.dt.dayofyear - leap
    for day in range(4, 365, 7):
        w = window(v, day)
        if w.middle.nunique() >= 3:
            say("band", day, *np.percentile(w.chl, [10, 25, 50, 75, 90]), len(w), w.middle.nunique())

    iso = v.date.dt.isocalendar()
    v["week"] = iso.year.astype(int) * 100 + iso.week.astype(int)
    v["level"] = pd.cut(v.chl, [-np.inf, 10, 50, np.inf], right=False, labels=False)
    end = pd.to_datetime(dict(year=v.year + 1, month=1, day=1))
    v["held"] = (v.date.shift(-1).fillna(pd.Timestamp.max).clip(upper=end) - v.date).dt.days.clip(upper=14)
    for year, of in v.groupby("year"):
        if len(of) < 8 or of.date.dt.month.nunique() < 5:
            continue
        weeks = of.groupby("week").last().level.value_counts()
        days = of.groupby("level").held.sum()
        trophic = pd.cut([of.chl.mean() - 1e-9 * (of.chl.mean() <= 2.5)], [0, 1, 2.5, 8, 25, np.inf], right=False,
                         labels=["ultraoligotrophic", "oligotrophic", "mesotrophic", "eutrophic", "hypertrophic"])[0]
        # The bloom season is the run of values above the threshold, without a pause of more than 45 days, that has the highest value.
        above = of.chl > 1.05 * of.chl.median()
        run = (~above | (of.date.diff().dt.days > 45)).cumsum().where(above)
        bloom = of[run == run[of.chl.idxmax()]] if above.any() else of.loc[[of.chl.idxmax()]]
        say("year", year, len(of), of.chl.mean(), of.chl.median(), of.chl.max(), f"{of.date[of.chl.idxmax()]:%Y-%m-%d}", trophic,
            *(weeks.get(level, 0) for level in range(3)), *(days.get(level, 0) for level in range(3)),
            f"{bloom.date.min():%Y-%m-%d}", f"{bloom.date.max():%Y-%m-%d}", (bloom.date.max() - bloom.date.min()).days + 1)

    for _, of in v.iloc[::37].iterrows():
        others = v[(v.date - of.date).dt.days.abs() > 182]
        w = window(others, of.doy)
        if w.middle.nunique() >= 3:
            medians = w.groupby("middle").chl.median()
            say("place", f"{of.date:%Y-%m-%d}", stats.percentileofscore(w.chl, of.chl, kind="mean"), len(medians), (medians < of.chl).sum(), (medians > of.chl).sum())

    # With one month in each year the seasonal test is that of Mann and Kendall, and the slope that of Theil and Sen.
    july = v[v.date.dt.month == 7].groupby("year").chl.median()
    if len(july) >= 10:
        pairs = len(july) * (len(july) - 1) / 2
        ties = july.value_counts()
        tau = stats.kendalltau(july.index, july).correlation
        s = round(tau * np.sqrt(pairs * (pairs - (ties * (ties - 1) / 2).sum()))) if july.nunique() > 1 else 0
        say("july", stats.theilslopes(july, july.index)[0], s)
    print()

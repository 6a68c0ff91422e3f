// Digest prints the SHA-256 of the forecasts of 300 made-up lakes and of their scores. It must be the same on all processors.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"

	"limnomap/data/forecast"
	"limnomap/data/forecast/backtest"
)

func main() {
	h := sha256.New()
	add := func(numbers ...float64) {
		for _, x := range numbers {
			h.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	scores := backtest.New(backtest.Classes{Limits: [2]float64{12, 24}, Above: true})
	f := forecast.New(0)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 20))
		latitude := float64(r.IntN(181) - 90)
		f.Reset(latitude)
		var values []forecast.Value
		day := r.IntN(20_000) - 1000
		base := 1 + r.IntN(3000)
		for range r.IntN(150) {
			switch r.IntN(20) {
			case 0: // the same day
			case 1:
				day += r.IntN(3000)
			default:
				day += 1 + r.IntN(14)
			}
			chl := base * (1 + r.IntN(100)) / 30
			switch r.IntN(25) {
			case 0:
				chl = 0
			case 1:
				chl = r.IntN(150_000)
			}
			values = append(values, forecast.Value{Day: day, Chl: float64(chl) / 100})
			f.Add(values[len(values)-1])
			for _, ahead := range []int{7, 28, 300, 5000} {
				p := f.Predict(day + ahead)
				add(p.Mu, p.Sigma, p.Chl(), p.Lower(), p.Upper(), p.Exceeds(12), p.Exceeds(24), p.Exceeds(50), p.Exceeds(1000))
			}
		}
		scores.Add(scores.Evaluate(backtest.Pairs(latitude, values, 3)))
	}
	for week := range backtest.Weeks + 1 {
		for m := range backtest.Method(backtest.Methods) {
			r := scores.Row(week, m)
			add(r.RMSE, r.MAE, r.Bias, r.MedianFactor, r.Pinball, r.CRPS, r.Coverage, r.Width)
			add(r.Brier[0], r.Brier[1], r.AUC[0], r.AUC[1], r.RightClass, r.BeatsPersistence, r.ClearlyWorse)
		}
	}
	println(hex.EncodeToString(h.Sum(nil)))
}

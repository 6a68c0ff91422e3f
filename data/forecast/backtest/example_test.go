package backtest_test

import (
	"fmt"

	"limnomap/data/forecast"
	"limnomap/data/forecast/backtest"
)

func Example() {
	// A lake with a value of every Monday for four years, high in every second week of summer.
	var values []forecast.Value
	for week := range 208 {
		chl := 3.0
		if week%52 > 20 && week%52 < 40 {
			chl = 20 + 30*float64(week%2)
		}
		values = append(values, forecast.Value{Day: 18266 + 7*week, Chl: chl})
	}
	scores := backtest.New(backtest.Classes{Limits: [2]float64{10, 50}})
	scores.Add(scores.Evaluate(backtest.Pairs(50, values, 2)))
	model, persistence := scores.Row(1, backtest.Model), scores.Row(1, backtest.Persistence)
	fmt.Printf("One week ahead the forecast is %.0f %% closer than last week's value.\n", 100*(1-model.RMSE/persistence.RMSE))
	// Output: One week ahead the forecast is 23 % closer than last week's value.
}

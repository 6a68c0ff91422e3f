package forecast_test

import (
	"fmt"

	"limnomap/data/forecast"
)

func Example() {
	f := forecast.New(52.7)
	// Five weeks of July and August 2024, in µg/l.
	for week, chl := range []float64{8.2, 11.5, 0, 19.8, 24.1} {
		f.Add(forecast.Value{Day: 19906 + 7*week, Chl: chl})
	}
	origin := 19906 + 4*7
	target := origin + 14
	if reason := f.Withheld(origin, target); reason != forecast.None {
		fmt.Println("withheld:", reason)
		return
	}
	p := f.Predict(target)
	fmt.Printf("%.1f µg/l, four of five values between %.1f and %.1f\n", p.Chl(), p.Lower(), p.Upper())
	fmt.Printf("reaches 50 µg/l with probability %.2f\n", p.Exceeds(50))
	// Output:
	// 17.2 µg/l, four of five values between 6.0 and 49.8
	// reaches 50 µg/l with probability 0.10
}

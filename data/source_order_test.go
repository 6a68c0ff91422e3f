package data_test

import (
	"fmt"
	"strings"
	"testing"

	"limnomap/data"
)

func ExampleSourceOrder() {
	order := data.SourceOrder{"Copernicus LWQ", "EPA CyAN"}
	for _, source := range []string{"Copernicus LWQ300", "EPA CyAN V5", "LfU Bayern"} {
		fmt.Println(source, order.Rank(source))
	}
	// Output:
	// Copernicus LWQ300 1
	// EPA CyAN V5 2
	// LfU Bayern 0
}

func TestSourceOrderRank(t *testing.T) {
	order := data.SourceOrder{"EPA CyAN V1", "Copernicus LWQ", "EPA CyAN"}
	for source, want := range map[string]uint8{
		"": 0, "EPA": 0, "epa cyan": 0, "EPA CyANogen": 0, "Copernicus LWQ": 2, "Copernicus LWQ300": 2, "Copernicus LWQ 100 m": 2, "Copernicus LWQé": 2,
		"EPA CyAN": 3, "EPA CyAN V2": 3, "EPA CyAN V1": 1, "EPA CyAN V1.2": 1, "EPA CyAN V10": 1, "x EPA CyAN": 0,
	} {
		if got := order.Rank(source); got != want {
			t.Errorf("Rank(%q) = %d, want %d", source, got, want)
		}
	}
	if got := data.SourceOrder(nil).Rank("a"); got != 0 {
		t.Errorf("without an order the rank is %d, want 0", got)
	}
}

func TestSourceOrderCheck(t *testing.T) {
	long := make(data.SourceOrder, data.MaxSourceOrder+1)
	for i := range long {
		long[i] = fmt.Sprint(i)
	}
	if err := long[1:].Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		order data.SourceOrder
		want  string
	}{
		{long, "65 preferred sources: want at most 64"},
		{data.SourceOrder{"a", ""}, "preferred source 2 is empty"},
		{data.SourceOrder{"a", "b", "a"}, `"a" comes twice`},
		{data.SourceOrder{strings.Repeat("a", 201)}, "201 characters"},
		{data.SourceOrder{"a\nb"}, "control character"},
		{data.SourceOrder{"a\u202eb"}, `preferred source "a\u202eb"`},
	} {
		if err := c.order.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check of %.40q = %v, want an error with %q", c.order, err, c.want)
		}
	}
}

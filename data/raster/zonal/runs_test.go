package zonal

func runsOf(m *Mask) [][3]int {
	runs := [][3]int{}
	m.Each(func(y, x0, x1 int) { runs = append(runs, [3]int{y, x0, x1}) })
	return runs
}

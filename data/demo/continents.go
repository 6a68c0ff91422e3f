package demo

// continents returns the land between the districts, which has few lakes: ellipses as wide as the coasts allow. Their
// chlorophyll is that of the districts around them.
func continents() []district {
	return []district{
		{"NA_NOR", "Northern Canada", 58, -101, 1250, 750, 0, 70, 0},
		{"NA_NOW", "Northwestern Canada", 62, -122, 750, 420, -40, 14, 0},
		{"NA_QUE", "Quebec and Labrador", 52.5, -70, 620, 560, 0, 26, 0},
		{"NA_ALA", "Alaska", 64.5, -152, 560, 400, 0, 10, 0},
		{"NA_WES", "Western United States", 41, -111.5, 850, 700, 0, 6, 0},
		{"NA_CEN", "Central United States", 40, -95.5, 750, 950, 0, 14, 0},
		{"NA_EAS", "Eastern United States", 38.3, -81, 950, 420, 45, 9, 0},
		{"NA_MEX", "Mexico", 23.5, -103, 900, 300, -55, 2, 0},
		{"EU_WES", "Western Europe", 48, 6, 800, 420, 0, 4, 0},
		{"EU_EAS", "Eastern Europe", 52.5, 27, 850, 600, 0, 9, 0},
		{"EU_FEN", "Fennoscandia", 64, 22, 800, 480, 50, 16, 0},
		{"EU_RUS", "Russian Plain", 58.5, 46, 850, 750, 0, 12, 0},
		{"AS_WSI", "Western Siberia", 61.5, 73, 650, 900, 0, 26, 0},
		{"AS_CSI", "Central Siberia", 64.5, 105, 850, 800, 0, 16, 0},
		{"AS_ESI", "Eastern Siberia", 65.5, 142, 1050, 500, 0, 16, 0},
		{"AS_SSI", "Southern Siberia", 52, 106, 1400, 420, 0, 6, 0},
		{"AS_FAR", "Far East", 50, 131, 700, 350, 40, 3, 0},
		{"AS_CEN", "Central Asia", 46, 68, 1250, 520, 0, 6, 0},
		{"AS_HIG", "High Asia", 34, 88, 1200, 520, 0, 6, 0},
		{"AS_EAS", "Eastern China", 32, 111, 950, 900, 0, 9, 0},
		{"AS_IND", "India", 21.5, 78.8, 650, 850, 0, 6, 0},
		{"AS_IDC", "Indochina", 17, 101.5, 420, 650, 0, 2.5, 0},
		{"AS_MID", "Middle East", 35, 46, 1300, 420, -8, 1.5, 0},
		{"AF_WES", "Sahel and Guinea", 11, 3, 1800, 380, 0, 4, 0},
		{"AF_EAS", "Eastern Africa", 2, 34.5, 500, 1150, 0, 3.5, 0},
		{"AF_CON", "Congo Basin", -1.5, 21, 850, 700, 0, 2.5, 0},
		{"AF_SOU", "Southern Africa", -20.5, 25, 850, 1200, 0, 4.5, 0},
		{"SA_NOR", "Northern South America", 3, -65, 1100, 550, 0, 4, 0},
		{"SA_BRA", "Brazil", -9.5, -52, 1250, 1150, 0, 8, 0},
		{"SA_WES", "Western Amazon", -8.5, -69, 700, 800, 0, 4, 0},
		{"SA_PLA", "La Plata Basin", -29, -59.5, 550, 950, 0, 7, 0},
		{"SA_PAT", "Patagonia", -44.5, -69.8, 220, 850, 0, 5, 0},
		{"OC_AUS", "Australia", -26, 134, 1650, 850, 0, 4, 0},
	}
}

package ingest

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// namesIn returns a table of lakes with these names in an encoding.
func namesIn(t *testing.T, by *charmap.Charmap, names ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id;name;lat;lon\n")
	for i, name := range names {
		fmt.Fprintf(&b, "l%d;%s;53,75;21,75\n", i, name)
	}
	text, err := by.NewEncoder().String(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A list of lakes in each language and each encoding of it is read right or refused, and never read in another one.
func TestEncodings(t *testing.T) {
	western := []*charmap.Charmap{charmap.Windows1252, charmap.ISO8859_1, charmap.ISO8859_15, charmap.Macintosh, charmap.CodePage850}
	central := []*charmap.Charmap{charmap.Windows1250, charmap.ISO8859_2, charmap.CodePage852}
	cyrillic := []*charmap.Charmap{charmap.Windows1251, charmap.KOI8R, charmap.CodePage866, charmap.ISO8859_5, charmap.MacintoshCyrillic}
	ukrainian := []*charmap.Charmap{charmap.Windows1251, charmap.KOI8U}
	greek := []*charmap.Charmap{charmap.Windows1253, charmap.ISO8859_7}
	turkish := []*charmap.Charmap{charmap.Windows1254, charmap.ISO8859_9}
	baltic := []*charmap.Charmap{charmap.Windows1257, charmap.ISO8859_13}
	for _, test := range []struct {
		in    []*charmap.Charmap
		clear int // in how many of them it must be read
		names string
	}{
		{western, 5, "Müritz|Großer See|Plöner See|Kölpinsee|Bärwalder See"},
		{western, 5, "Lac de Genève|Étang de Berre|Forêt d'Orient|Plage de la Grève"},
		{western, 4, "Övre Skärsjön|Vänern|Vättern|Långsjön"},
		{western, 4, "Søndersø|Esrum Sø|Bagsværd Sø|Tårs Sø"},
		{western, 0, "Päijänne|Näsijärvi|Pyhäjärvi"},
		{western, 3, "Embalse de Orduña|Laguna de Cañas|Embalse de Alcántara"},
		{western, 5, "Albufeira do Alqueva|Lagoa de Óbidos|São Domingos|Praia da Conceição"},
		{western, 0, "Þingvallavatn|Mývatn|Lagarfljót|Öskjuvatn"},
		{western, 0, "Lac du Bourg|Müggelsee|Lago di Caldè|Zürichsee|Lac Léman|Greifensee"},
		{central, 3, "Jezioro Śniardwy|Jezioro Łękuk Wielki|Jezioro Gopło"},
		{central, 2, "Jezioro Łękuk Wielki"},
		{central, 3, "Lipno|Máchovo jezero|Nové Mlýny|Rozkoš|Černé jezero|Třeboň|Dvůr Králové"},
		{central, 3, "Štrbské pleso|Zemplínska šírava|Veľká Domaša|Počúvadlo"},
		{central, 3, "Balaton|Fertő-tó|Velencei-tó|Fehér-tó|Gyűrűs-tó"},
		{central, 0, "Plitvička jezera|Vransko jezero|Peruća|Baćina|Đurđevac"},
		{central, 3, "Lacul Snagov|Lacul Bâlea|Căldăruşani|Lacul Roşu"},
		{cyrillic, 5, "Онежское озеро|Ладожское озеро|Ильмень|Селигер|Ядринское"},
		{cyrillic, 4, "Онежское озеро"},
		{cyrillic, 2, "ОНЕЖСКОЕ ОЗЕРО"},
		{cyrillic, 0, "озеро байкал"},
		{cyrillic, 3, "Искър|Батак|Кърджали|Язовир Огоста"},
		{ukrainian, 2, "Світязь|Київське водосховище|Ялпуг"},
		{greek, 2, "Λίμνη Βόλβη|Κερκίνη|Πλαστήρα|Τριχωνίδα"},
		{turkish, 2, "Beyşehir Gölü|Eğirdir Gölü|İznik Gölü|Işıklı"},
		{baltic, 0, "Drūkšiai|Plateliai|Ežeras Žuvintas|Sartų ežeras"},
		{baltic, 0, "Rāznas ezers|Ķīšezers|Alūksnes ezers"},
		{western, 0, "Großer See"},
		{western, 0, "Gjersjøen"},
		{western, 0, "Alcántara"},
		{western, 0, "Lac du Sacré-Cœur"},
		{western, 0, "São João"},
		{central, 0, "Jezioro Śniardwy"},
		{central, 0, "Černé jezero"},
		{central, 0, "Fertő-tó"},
		{central, 0, "Třeboň"},
		{central, 0, "Dąbie"},
		{central, 0, "Máchovo jezero"},
		{cyrillic, 0, "Байкал"},
		{greek, 0, "ΛΙΜΝΗ ΒΟΛΒΗ"},
		{baltic, 0, "Lubāns"},
	} {
		names := strings.Split(test.names, "|")
		for i, in := range test.in {
			if _, err := in.NewEncoder().String(test.names); err != nil {
				continue // it has no œ
			}
			s := storetest.New(t)
			r, err := Lakes(t.Context(), s, files(namesIn(t, in, names...)), nil)
			if err != nil {
				if text := err.Error(); i < test.clear || !strings.Contains(text, "a.csv") || !strings.Contains(text, "--encoding") {
					t.Errorf("%s in %s: %v, want it read, or how to name the encoding", test.names, in, err)
				}
				continue
			}
			lakes, _ := stored(t, s)
			for i, l := range lakes {
				if l.Name != names[i] {
					t.Errorf("%s in %s was read as %s: %s", test.names, in, r.Encodings, l.Name)
				}
			}
			if len(lakes) != len(names) || len(r.Encodings) != 1 || !strings.Contains(r.String(), "a.csv is not UTF-8: it was read as "+r.Encodings[0].Name) {
				t.Errorf("%s in %s: report %s, want the encoding in it", test.names, in, r)
			}
		}
	}
}

// With the name of its encoding, each list is read right.
func TestNamedEncodings(t *testing.T) {
	for _, test := range []struct {
		name string
		in   *charmap.Charmap
		lake string
	}{
		{"windows-1250", charmap.Windows1250, "Fertő"}, {"CP1250", charmap.Windows1250, "Śniardwy"}, {"win-1251", charmap.Windows1251, "Байкал"}, {"Latin1", charmap.ISO8859_1, "Gjersjøen"},
		{"ISO_8859-2", charmap.ISO8859_2, "Fertő"}, {"iso-8859-7", charmap.ISO8859_7, "Βόλβη"}, {"ISO-8859-15", charmap.ISO8859_15, "Cœur"}, {"KOI8-R", charmap.KOI8R, "Байкал"},
		{"cp850", charmap.CodePage850, "Großer"}, {"IBM852", charmap.CodePage852, "Dąbie"}, {"macintosh", charmap.Macintosh, "Müritz"}, {"cp437", charmap.CodePage437, "Müritz"},
	} {
		s := storetest.New(t)
		r := mustImport(t, Lakes, s, &Options{Table: TableFormat{Encoding: test.name}}, namesIn(t, test.in, test.lake))
		if lakes, _ := stored(t, s); len(lakes) != 1 || lakes[0].Name != test.lake || len(r.Encodings) != 1 {
			t.Errorf("%s: stored %v, %v, want %s", test.name, lakes, r, test.lake)
		}
	}
	for _, test := range []struct{ name, text, want string }{
		{"windows-1249", aLake, `encoding "windows-1249": want one of utf-8, windows-1252`},
		{"windows-1250", "id,name,lat,lon\nx,Müritz,50,10\n", "is UTF-8, but the file before it is windows-1250"},
		{"utf-8", "id,name,lat,lon\nx,M\xfcritz,50,10\n", "name is not UTF-8"},
		{"windows-1252", "id,name,lat,lon\nx,M\x81\xfcritz,50,10\n", "has a byte that is no character of windows-1252"},
	} {
		r, err := Lakes(t.Context(), storetest.New(t), files(test.text), &Options{Table: TableFormat{Encoding: test.name}})
		if text := fmt.Sprint(r, err); r.Written || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
	}
	// Letters that are UTF-8 by chance are read as the others of the file.
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, namesIn(t, charmap.Windows1250, "Śniardwy", "aęąśb", "Jezioro Łękuk"))
	if lakes, _ := stored(t, s); lakes[1].Name != "aęąśb" {
		t.Errorf("stored %v", lakes)
	}
	// A byte-order mark says more than an option, and ASCII nothing.
	for _, text := range []string{"\ufeffid,name,lat,lon\nx,Müritz,50,10\n", aLake} {
		if r := mustImport(t, Lakes, storetest.New(t), &Options{Table: TableFormat{Encoding: "cp850"}}, text); r.Added != 1 || len(r.Encodings) > 0 {
			t.Errorf("%q: %v, want it read as it is", text, r)
		}
	}
	// A file may have its own.
	f := textFile("a.csv", namesIn(t, charmap.CodePage852, "Dąbie"))
	f.Table = &TableFormat{Encoding: "cp852"}
	s = storetest.New(t)
	if _, err := All(t.Context(), s, []File{f}, nil, func(store.Tx, Reports) error { return nil }); err != nil {
		t.Error(err)
	}
	if lakes, _ := stored(t, s); len(lakes) != 1 || lakes[0].Name != "Dąbie" {
		t.Errorf("stored %v", lakes)
	}
}

// The header and units count too, and names of columns are found in any encoding.
func TestEncodedHeader(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	text, err := charmap.Windows1250.NewEncoder().String("Jezioro;Data;Głębokość;Chlorofil [µg/l]\nx;2025-07-01;0,5;7\n") // ISO 8859-2 has no µ
	if err != nil {
		t.Fatal(err)
	}
	r := mustImport(t, Observations, s, &Options{Map: Mapping{"lake_id": "Jezioro", "date": "data", "chl": "Chlorofil [µg/l]"}, Set: Mapping{"data_type": "in_situ"}}, text)
	if r.Added != 1 || len(r.Encodings) != 1 || r.Encodings[0].Name != "windows-1250" {
		t.Errorf("report %v, want windows-1250 and an observation", r)
	}
	// Only a unit or a symbol, which is no word.
	for i, text := range []string{"7,\xb5g/l,", "7,mg/m\xb3,", "7,\xb5g/l,22 \xb0C", "7,ug/l,0.5 \xb1 0.1", "7,ug/l,d\x92Annecy"} {
		if r, err := Observations(t.Context(), s, files(fmt.Sprintf("lake_id,date,data_type,chl,unit,note\nx,2025-07-%02d,in_situ,%s\n", i+2, text)), nil); err != nil || r.Added != 1 {
			t.Errorf("%q: %v, %v, want it read", text, r, err)
		}
	}
}

// Texts that were garbled before they were written are refused by their line; others that look like it are not.
func TestGarbledTexts(t *testing.T) {
	garbled := func(name string, by *charmap.Charmap) string {
		text, err := by.NewDecoder().String(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, name := range []string{"MÃ¼ritz", "GroÃŸer See", "Lac de GenÃ¨ve", "VoilÃ\u00a0 Plage", "FertÅ‘", "Jezioro Åšniardwy", "d’Annecy MÃ¼ritz", "dâ€™Annecy", garbled("Müritz", charmap.Windows1250), garbled("Müritz", charmap.CodePage850), garbled("Müritz", charmap.Macintosh),
		garbled("Онежское", charmap.Windows1251), garbled("Онежское", charmap.Windows1252), garbled("Λίμνη", charmap.ISO8859_1), "M\ufffdritz"} {
		for _, text := range []string{"id,name,lat,lon\nx," + name + ",50,10\n", features(featureOf(`"id":"x","name":"`+name+`"`, pointGeometry))} {
			r := mustImport(t, Lakes, storetest.New(t), nil, text)
			if r.Rejected != 1 || !strings.Contains(r.Bad[0].Reason, "encoded twice") && !strings.Contains(r.Bad[0].Reason, "U+FFFD") {
				t.Errorf("%s: %v, want it refused", name, r)
			}
		}
	}
	for _, name := range []string{"Müritz", "Å", "Å–", "»Ö«", "Plage “La Cité”", "CAFÉ’S", "IRMÃ Praia", "Ääsmäe öö", "Озеро Рица", "СЁМИНО", "Їжа", "Âge d’or", "Île–Ñ", "Łękuk", "ÅÄÖ", "Ærø", "N° 5", "琵琶湖", "Võõpsu"} {
		if r := mustImport(t, Lakes, storetest.New(t), nil, "id,name,lat,lon\nx,"+name+",50,10\n"); r.Added != 1 {
			t.Errorf("%s: %v, want it read", name, r)
		}
	}
	if r := mustImport(t, Lakes, storetest.New(t), &Options{Table: TableFormat{Encoding: "utf-8"}}, "id,name,lat,lon\nx,MÃ¼ritz,50,10\n"); r.Added != 1 {
		t.Errorf("%v, want a text read as it is", r)
	}
}

func FuzzEncoding(f *testing.F) {
	for _, text := range []string{"M\xfcritz", "Jezioro \xa3\xeakuk", "\x00\xff\xfe", "\xcf\xce\xc5", "l\xb7l \xb5g/l km\xb2"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		words, err := readWords(strings.NewReader(string(text)))
		if err != nil || len(words) == 0 {
			return
		}
		e, err := detectEncoding(words)
		again, errAgain := detectEncoding(words)
		if (e == nil) == (err == nil) || e != again || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Errorf("%q: %v, %v, and then %v, %v", text, e, err, again, errAgain)
		}
		if e != nil {
			_ = e.decode(string(text))
		}
	})
}

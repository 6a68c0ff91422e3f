//go:build long

package deploy

import (
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// Without --public-url, GDAL reads the WMTS at the address that the server listens on.
func TestGDALWithoutPublicURL(t *testing.T) {
	limnomaptest.Need(t, "gdal_translate")
	server := limnomaptest.Start(t)
	dir := t.TempDir()
	command(t, "", dir, "gdal_translate", "-q", "-of", "PNG", "-outsize", "256", "0",
		"WMTS:"+server.Base+"/wmts,layer=chlorophyll,style=dots,zoom_level=4", dir+"/lakes.png")
}

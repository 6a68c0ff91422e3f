// Leaflet, imported in one place: each import of another file costs bytes.
export * as L from 'leaflet'

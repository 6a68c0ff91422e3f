// Code of a user of the generated types.
import type { components, operations } from './limnomap'

type NearLake = components['schemas']['NearLake']
type Query = operations['near']['parameters']['query']

export const query: Query = { lat: 52.5, lon: 13.4 }
export const text = (lake: NearLake): string => `${lake.name}, ${lake.distance_km} km: ${lake.chl ?? 'no value'}, ${lake.risk ?? 'unknown'}, ${lake.advisory?.kind ?? ''}`

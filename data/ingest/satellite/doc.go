// Package satellite makes values of lakes from satellite files.
package satellite

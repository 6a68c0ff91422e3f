package main

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A node is a part of a JSON schema.
type node = map[string]any

// schemas returns the JSON schema whose $defs are the kinds, and the types that these are made of.
func schemas() node {
	defs := make(node)
	for name, make := range kinds {
		defs[name] = typeSchema(reflect.TypeOf(make()), defs)
	}
	return node{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs}
}

// own are the types that have a form of their own in JSON.
var own = map[reflect.Type]node{
	reflect.TypeFor[resource.Quantity]():  {"type": []string{"string", "number"}},
	reflect.TypeFor[intstr.IntOrString](): {"type": []string{"string", "integer"}},
	reflect.TypeFor[metav1.Time]():        {"type": []string{"string", "null"}},
	reflect.TypeFor[metav1.MicroTime]():   {"type": []string{"string", "null"}},
	reflect.TypeFor[metav1.FieldsV1]():    {},
	reflect.TypeFor[[]byte]():             {"type": "string"},
}

func typeSchema(t reflect.Type, defs node) node {
	if n, ok := own[t]; ok {
		return n
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), defs)
	case reflect.String:
		return node{"type": "string"}
	case reflect.Bool:
		return node{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return node{"type": "integer"}
	case reflect.Slice:
		return node{"type": "array", "items": typeSchema(t.Elem(), defs)}
	case reflect.Map:
		return node{"type": "object", "additionalProperties": typeSchema(t.Elem(), defs)}
	case reflect.Struct:
		name := strings.ReplaceAll(t.PkgPath()+"."+t.Name(), "/", ".")
		if _, ok := defs[name]; !ok {
			defs[name] = nil // a type may hold itself
			properties := make(node)
			addFields(t, properties, defs)
			defs[name] = node{"type": "object", "properties": properties, "additionalProperties": false}
		}
		return node{"$ref": "#/$defs/" + name}
	}
	panic("no schema for " + t.String())
}

// addFields adds the fields of a struct, and of those that are inlined into it.
func addFields(t reflect.Type, properties, defs node) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case strings.Contains(options, "inline") || name == "" && f.Anonymous:
			addFields(f.Type, properties, defs)
		case name != "-" && name != "":
			properties[name] = typeSchema(f.Type, defs)
		}
	}
}

package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// openapi answers with the document that describes the API in the terms of OpenAPI 3.1. It is made of the routes and of the types of their documents, so that
// it cannot differ from what is served.
func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.document())
}

type object = map[string]any

func (s *Server) document() object {
	d := &describer{schemas: object{}}
	paths := object{}
	for _, r := range s.routes() {
		at, _ := paths[r.path].(object)
		if at == nil {
			at = object{}
			paths[r.path] = at
		}
		at[strings.ToLower(r.method)] = d.operation(&r)
	}
	return object{
		"openapi":    "3.1.0",
		"info":       object{"title": "Footfall", "version": s.opt.Version, "description": "Looks at a broker and manages it."},
		"paths":      paths,
		"components": object{"schemas": d.schemas},
	}
}

// describer collects the schemas of types.
type describer struct{ schemas object }

func (d *describer) operation(r *route) object {
	responses := object{"200": object{"description": "It was done.", "content": d.content(r.answer)}}
	for _, status := range append(r.statuses, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable) {
		responses[strconv.Itoa(status)] = object{"description": http.StatusText(status), "content": d.content(failure{})}
	}
	out := object{"summary": r.about, "operationId": operationID(r), "responses": responses}
	var parameters []object
	if strings.Contains(r.path, "{id}") {
		parameters = append(parameters, object{"name": "id", "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range r.query {
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.about, "schema": object{"type": "string"}})
	}
	if parameters != nil {
		out["parameters"] = parameters
	}
	if r.body != nil {
		out["requestBody"] = object{"required": true, "content": d.content(r.body)}
	}
	return out
}

// operationID is made of method and path: getScheduledCounts.
func operationID(r *route) string {
	id := strings.ToLower(r.method)
	for part := range strings.FieldsFuncSeq(strings.TrimPrefix(r.path, "/api/v1/"), func(r rune) bool { return r == '/' || r == '.' || r == '{' || r == '}' }) {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

func (d *describer) content(v any) object {
	return object{"application/json": object{"schema": d.schema(reflect.TypeOf(v))}}
}

// schema describes a type as encoding/json writes it. Structs that have a name are described once.
func (d *describer) schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{"type": []string{"string", "number"}}
	case t == reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return object{"type": "object"}
		}
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Struct:
		return d.structure(t)
	}
	panic(fmt.Sprintf("admin: no schema for %v", t))
}

func (d *describer) structure(t reflect.Type) object {
	name := strings.Map(func(r rune) rune {
		if r == '[' || r == ']' || r == '/' || r == '.' {
			return '_'
		}
		return r
	}, strings.ReplaceAll(t.Name(), "footfall/admin.", ""))
	if name != "" {
		ref := object{"$ref": "#/components/schemas/" + name}
		if d.schemas[name] != nil {
			return ref
		}
		d.schemas[name] = object{} // for one that has itself in it
		defer func() { d.schemas[name] = d.members(t) }()
		return ref
	}
	return d.members(t)
}

func (d *describer) members(t reflect.Type) object {
	properties := object{}
	required := []string{}
	for _, f := range reflect.VisibleFields(t) {
		if len(f.Index) > 1 && !embedded(t, f) || f.Anonymous {
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		properties[name] = d.schema(f.Type)
		if !strings.Contains(rest, "omitempty") && !strings.Contains(rest, "omitzero") {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// embedded tells whether a field comes of a struct that is embedded in t.
func embedded(t reflect.Type, f reflect.StructField) bool {
	for i := range len(f.Index) - 1 {
		if !t.FieldByIndex(f.Index[:i+1]).Anonymous {
			return false
		}
	}
	return true
}

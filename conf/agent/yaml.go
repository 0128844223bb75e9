package agent

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yaml reads Fluent Bit's YAML: service, pipeline.inputs and pipeline.outputs,
// with env and includes.
func (r *reader) yaml(path string, content []byte) error {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(document.Content) == 0 {
		return nil
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: it isn't a map of sections", path, root.Line)
	}
	if env := child(root, "env"); env != nil {
		each(env, func(key, value *yaml.Node) { r.set[key.Value] = value.Value })
	}
	if includes := child(root, "includes"); includes != nil {
		for _, file := range includes.Content {
			if err := r.include(path, r.expand(file.Value)); err != nil {
				return fmt.Errorf("%s:%d: %w", path, file.Line, err)
			}
		}
	}
	if service := child(root, "service"); service != nil {
		r.add("service", r.section(path, service))
	}
	pipeline := child(root, "pipeline")
	if pipeline == nil {
		return nil
	}
	for kind, list := range map[string]*yaml.Node{"input": child(pipeline, "inputs"), "output": child(pipeline, "outputs")} {
		if list == nil {
			continue
		}
		for _, item := range list.Content {
			r.add(kind, r.section(path, item))
		}
	}
	return nil
}

// section takes a map's scalars. Of a list Fluent Bit hands on the first element
// only.
func (r *reader) section(path string, node *yaml.Node) Section {
	s := Section{File: path, Line: node.Line}
	each(node, func(key, value *yaml.Node) {
		switch {
		case strings.EqualFold(key.Value, "processors"):
			s.Processors = true
		case value.Kind == yaml.ScalarNode:
			s.Properties = append(s.Properties, Property{key.Value, r.expand(value.Value), key.Line})
		case value.Kind == yaml.SequenceNode && len(value.Content) > 0:
			s.Properties = append(s.Properties, Property{key.Value, r.expand(value.Content[0].Value), key.Line})
		}
	})
	return s
}

// child is a key's value in a map, nil if there is none.
func child(node *yaml.Node, name string) (found *yaml.Node) {
	each(node, func(key, value *yaml.Node) {
		if strings.EqualFold(key.Value, name) && found == nil {
			found = value
		}
	})
	return found
}

func each(node *yaml.Node, do func(key, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		do(node.Content[i], node.Content[i+1])
	}
}

package node

import (
	"errors"
	"slices"

	"footfall/broker"
)

// virtualTopic tells what is wrong with an item of delivery.virtual-topics.
func virtualTopic(text string) error {
	if text == none {
		return nil
	}
	_, err := broker.ParseVirtualTopic(text)
	return err
}

// virtualTopics reads them.
func virtualTopics(texts []string) ([]broker.VirtualTopic, error) {
	list := []broker.VirtualTopic{}
	if slices.Contains(texts, none) {
		if len(texts) > 1 {
			return nil, errors.New("delivery.virtual-topics has none beside others")
		}
		return list, nil
	}
	for _, text := range texts {
		v, err := broker.ParseVirtualTopic(text)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

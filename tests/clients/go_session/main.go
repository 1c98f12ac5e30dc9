// What a program does with go-elasticsearch: it checks the product on its first answer, loads in
// bulk from several workers, and searches. Prints what it saw.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/elastic/go-elasticsearch/v8/esutil"
)

type answer map[string]any

func main() {
	client, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{os.Args[1]}})
	check(err)
	info := read(client.Info())
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: "go", NumWorkers: 2, FlushBytes: 4096,
	})
	check(err)
	for number := range 300 {
		document := fmt.Sprintf(`{"n": %d, "title": "entry %d of go"}`, number, number)
		check(indexer.Add(context.Background(), esutil.BulkIndexerItem{
			Action: "create", DocumentID: fmt.Sprint(number), Body: strings.NewReader(document),
		}))
	}
	check(indexer.Close(context.Background()))
	read(client.Indices.Refresh(client.Indices.Refresh.WithIndex("go")))
	query := `{"query": {"match": {"title": "entry"}}, "aggs": {"most": {"max": {"field": "n"}}}, "size": 1}`
	found := read(client.Search(
		client.Search.WithIndex("go"),
		client.Search.WithBody(bytes.NewBufferString(query)),
		client.Search.WithTrackTotalHits(true),
	))
	missing, err := client.Get("go", "absent")
	check(err)
	missing.Body.Close()
	seen := answer{
		"version": info["version"].(map[string]any)["number"],
		"client":  elasticsearch.Version,
		"sent":    indexer.Stats().NumFlushed,
		"failed":  indexer.Stats().NumFailed,
		"total":   found["hits"].(map[string]any)["total"].(map[string]any)["value"],
		"most":    found["aggregations"].(map[string]any)["most"].(map[string]any)["value"],
		"missing": missing.StatusCode,
	}
	check(json.NewEncoder(os.Stdout).Encode(seen))
}

func read(response *esapi.Response, err error) answer {
	check(err)
	defer response.Body.Close()
	if response.IsError() {
		log.Fatal(response.String())
	}
	var body answer
	check(json.NewDecoder(response.Body).Decode(&body))
	return body
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

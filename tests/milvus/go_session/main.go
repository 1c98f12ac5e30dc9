// What a program does with Milvus' SDK for Go: a quickstart, a filter, a hybrid search and an error.
// Prints what it saw.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"slices"

	"github.com/milvus-io/milvus/client/v2/column"
	"github.com/milvus-io/milvus/client/v2/entity"
	"github.com/milvus-io/milvus/client/v2/index"
	client "github.com/milvus-io/milvus/client/v2/milvusclient"
)

const (
	rows = 200
	dim  = 4
	name = "go_books"
)

// vector is on a circle, a step for each row.
func vector(row, turn int) []float32 {
	angle := float64(row*turn) * math.Pi / rows
	return []float32{float32(math.Cos(angle)), float32(math.Sin(angle)), 0, 0}
}

func main() {
	ctx := context.Background()
	milvus := must(client.New(ctx, &client.ClientConfig{Address: os.Args[1]}))
	create(ctx, milvus)
	seen := map[string]any{"inserted": insert(ctx, milvus)}
	read(ctx, milvus, seen)
	change(ctx, milvus, seen)
	_, err := milvus.Query(ctx, client.NewQueryOption(name).WithFilter("id ==").WithOutputFields("id"))
	seen["error"] = err != nil
	seen["absent"] = must(milvus.HasCollection(ctx, client.NewHasCollectionOption("absent")))
	described := must(milvus.DescribeCollection(ctx, client.NewDescribeCollectionOption(name)))
	var fields []string
	for _, field := range described.Schema.Fields {
		fields = append(fields, field.Name)
	}
	seen["fields"] = fields
	check(milvus.DropCollection(ctx, client.NewDropCollectionOption(name)))
	check(milvus.Close(ctx))
	check(json.NewEncoder(os.Stdout).Encode(seen))
}

func create(ctx context.Context, milvus *client.Client) {
	schema := entity.NewSchema().WithDynamicFieldEnabled(true).
		WithField(entity.NewField().WithName("id").WithDataType(entity.FieldTypeInt64).WithIsPrimaryKey(true)).
		WithField(entity.NewField().WithName("v").WithDataType(entity.FieldTypeFloatVector).WithDim(dim)).
		WithField(entity.NewField().WithName("w").WithDataType(entity.FieldTypeFloatVector).WithDim(dim)).
		WithField(entity.NewField().WithName("title").WithDataType(entity.FieldTypeVarChar).WithMaxLength(64))
	check(milvus.CreateCollection(ctx, client.NewCreateCollectionOption(name, schema).
		WithConsistencyLevel(entity.ClStrong)))
	for _, field := range []string{"v", "w"} {
		kind := index.NewHNSWIndex(entity.L2, 16, 100)
		task := must(milvus.CreateIndex(ctx, client.NewCreateIndexOption(name, field, kind)))
		check(task.Await(ctx))
	}
	load := must(milvus.LoadCollection(ctx, client.NewLoadCollectionOption(name)))
	check(load.Await(ctx))
}

func insert(ctx context.Context, milvus *client.Client) int64 {
	var ids []int64
	var titles, colours []string
	var v, w [][]float32
	for row := range rows {
		ids = append(ids, int64(row))
		titles = append(titles, fmt.Sprintf("t%d", row%10))
		colours = append(colours, []string{"blue", "red"}[row%2])
		v, w = append(v, vector(row, 1)), append(w, vector(row, 2))
	}
	return must(milvus.Insert(ctx, client.NewColumnBasedInsertOption(name).
		WithInt64Column("id", ids).WithVarcharColumn("title", titles).
		WithFloatVectorColumn("v", dim, v).WithFloatVectorColumn("w", dim, w).
		WithColumns(column.NewColumnVarChar("colour", colours)))).InsertCount
}

func read(ctx context.Context, milvus *client.Client, seen map[string]any) {
	near := []entity.Vector{entity.FloatVector(vector(20, 1))}
	wide := []entity.Vector{entity.FloatVector(vector(20, 2))}
	found := must(milvus.Search(ctx, client.NewSearchOption(name, 3, near).
		WithANNSField("v").WithOutputFields("title", "colour")))[0]
	seen["found"] = numbers(found.IDs)[0]
	seen["title"] = must(found.GetColumn("title").GetAsString(0))
	seen["colour"] = must(found.GetColumn("colour").GetAsString(0))
	filtered := must(milvus.Search(ctx, client.NewSearchOption(name, 3, near).
		WithANNSField("v").WithFilter("colour == {colour}").WithTemplateParam("colour", "red")))[0]
	seen["filtered"] = sorted(filtered.IDs)
	hybrid := must(milvus.HybridSearch(ctx, client.NewHybridSearchOption(name, 2,
		client.NewAnnRequest("v", 10, near...), client.NewAnnRequest("w", 10, wide...)).
		WithReranker(client.NewRRFReranker()).WithOutputFields("title")))[0]
	seen["hybrid"] = numbers(hybrid.IDs)[0]
	queried := must(milvus.Query(ctx, client.NewQueryOption(name).WithFilter("id in [3, 4]").WithOutputFields("id")))
	seen["queried"] = sorted(queried.GetColumn("id"))
}

func change(ctx context.Context, milvus *client.Client, seen map[string]any) {
	must(milvus.Upsert(ctx, client.NewColumnBasedInsertOption(name).
		WithInt64Column("id", []int64{7}).WithVarcharColumn("title", []string{"new"}).
		WithFloatVectorColumn("v", dim, [][]float32{vector(7, 1)}).
		WithFloatVectorColumn("w", dim, [][]float32{vector(7, 2)})))
	got := must(milvus.Get(ctx, client.NewQueryOption(name).
		WithIDs(column.NewColumnInt64("id", []int64{7})).WithOutputFields("title")))
	seen["got"] = must(got.GetColumn("title").GetAsString(0))
	seen["deleted"] = must(milvus.Delete(ctx, client.NewDeleteOption(name).WithExpr("id >= 150"))).DeleteCount
	count := must(milvus.Query(ctx, client.NewQueryOption(name).WithOutputFields("count(*)")))
	seen["count"] = must(count.GetColumn("count(*)").GetAsInt64(0))
}

func numbers(ids column.Column) []int64 {
	found := make([]int64, ids.Len())
	for place := range found {
		found[place] = must(ids.GetAsInt64(place))
	}
	return found
}

func sorted(ids column.Column) []int64 {
	found := numbers(ids)
	slices.Sort(found)
	return found
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

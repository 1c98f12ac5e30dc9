// What a program does with the Node SDK: a quickstart, a filter, a hybrid search and an error.
// Prints what it saw.
"use strict";

const { MilvusClient, DataType, MetricType, IndexType, RRFRanker } = require("@zilliz/milvus2-sdk-node");

const ROWS = 200, DIM = 4, NAME = "node_books";

/** Vectors that the test makes too: on a circle, a step for each row. */
function vector(row, turn) {
  const angle = (row * turn * Math.PI) / ROWS;
  return [Math.cos(angle), Math.sin(angle), 0, 0];
}

function check(answer) {
  const status = answer.status ?? answer;
  if (status.error_code !== "Success") throw new Error(JSON.stringify(status));
  return answer;
}

async function main(address) {
  const client = new MilvusClient({ address });
  await client.connectPromise;
  check(await client.createCollection({
    collection_name: NAME,
    enable_dynamic_field: true,
    consistency_level: "Strong",
    fields: [
      { name: "id", data_type: DataType.Int64, is_primary_key: true, autoID: false },
      { name: "v", data_type: DataType.FloatVector, dim: DIM },
      { name: "w", data_type: DataType.FloatVector, dim: DIM },
      { name: "title", data_type: DataType.VarChar, max_length: 64 },
    ],
  }));
  for (const field_name of ["v", "w"]) {
    check(await client.createIndex({
      collection_name: NAME, field_name, index_name: field_name,
      index_type: IndexType.HNSW, metric_type: MetricType.L2, params: { M: 16, efConstruction: 100 },
    }));
  }
  check(await client.loadCollectionSync({ collection_name: NAME }));
  const data = Array.from({ length: ROWS }, (_, id) => ({
    id, v: vector(id, 1), w: vector(id, 2), title: `t${id % 10}`, colour: id % 2 ? "red" : "blue",
  }));
  const inserted = check(await client.insert({ collection_name: NAME, data }));
  const found = check(await client.search({
    collection_name: NAME, anns_field: "v", data: vector(20, 1), limit: 3, output_fields: ["id", "title", "colour"],
  }));
  const filtered = check(await client.search({
    collection_name: NAME, anns_field: "v", data: vector(20, 1), limit: 3, filter: 'colour == "red"',
  }));
  const templated = check(await client.query({
    collection_name: NAME, filter: "id in {ids}", exprValues: { ids: [3, 4] }, output_fields: ["id"],
  }));
  const hybrid = check(await client.hybridSearch({
    collection_name: NAME,
    data: [{ anns_field: "v", data: vector(20, 1) }, { anns_field: "w", data: vector(20, 2) }],
    rerank: RRFRanker(60), limit: 2, output_fields: ["id", "title"],
  }));
  check(await client.upsert({ collection_name: NAME, data: [{ ...data[7], title: "new" }] }));
  const got = check(await client.get({ collection_name: NAME, ids: [7], output_fields: ["title"] }));
  const deleted = check(await client.delete({ collection_name: NAME, filter: "id >= 150" }));
  const count = check(await client.count({ collection_name: NAME }));
  const iterator = await client.queryIterator({ collection_name: NAME, batchSize: 60, expr: "id >= 0", output_fields: ["id"] });
  let iterated = 0;
  for await (const page of iterator) iterated += page.length;
  const error = await client.query({ collection_name: NAME, filter: "id ==", output_fields: ["id"] });
  const absent = await client.hasCollection({ collection_name: "absent" });
  const described = check(await client.describeCollection({ collection_name: NAME }));
  const seen = {
    inserted: Number(inserted.insert_cnt),
    found: found.results.map((hit) => [Number(hit.id), hit.title, hit.colour]),
    filtered: filtered.results.map((hit) => Number(hit.id)).sort((a, b) => a - b),
    templated: templated.data.map((row) => Number(row.id)).sort((a, b) => a - b),
    hybrid: hybrid.results.map((hit) => [Number(hit.id), hit.title])[0],
    got: got.data.map((row) => row.title),
    deleted: Number(deleted.delete_cnt),
    count: Number(count.data),
    iterated,
    error: [error.status.code, error.status.reason.length > 0],
    absent: absent.value,
    fields: described.schema.fields.map((field) => field.name),
  };
  check(await client.dropCollection({ collection_name: NAME }));
  await client.closeConnection();
  console.log(JSON.stringify(seen));
}

main(process.argv[2]).catch((error) => { console.error(error); process.exit(1); });

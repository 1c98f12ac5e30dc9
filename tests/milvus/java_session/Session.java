// What a program does with Milvus' SDK for Java: a quickstart, a filter, a hybrid search and an error.
// Prints what it saw.

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import io.milvus.v2.client.ConnectConfig;
import io.milvus.v2.client.MilvusClientV2;
import io.milvus.v2.common.ConsistencyLevel;
import io.milvus.v2.common.DataType;
import io.milvus.v2.common.IndexParam;
import io.milvus.v2.exception.MilvusClientException;
import io.milvus.v2.service.collection.request.AddFieldReq;
import io.milvus.v2.service.collection.request.CreateCollectionReq;
import io.milvus.v2.service.collection.request.DescribeCollectionReq;
import io.milvus.v2.service.collection.request.DropCollectionReq;
import io.milvus.v2.service.collection.request.HasCollectionReq;
import io.milvus.v2.service.vector.request.AnnSearchReq;
import io.milvus.v2.service.vector.request.DeleteReq;
import io.milvus.v2.service.vector.request.FunctionScore;
import io.milvus.v2.service.vector.request.GetReq;
import io.milvus.v2.service.vector.request.HybridSearchReq;
import io.milvus.v2.service.vector.request.InsertReq;
import io.milvus.v2.service.vector.request.QueryIteratorReq;
import io.milvus.v2.service.vector.request.QueryReq;
import io.milvus.v2.service.vector.request.SearchReq;
import io.milvus.v2.service.vector.request.UpsertReq;
import io.milvus.v2.service.vector.request.data.BaseVector;
import io.milvus.v2.service.vector.request.data.FloatVec;
import io.milvus.v2.service.vector.request.ranker.RRFRanker;
import io.milvus.v2.service.vector.response.QueryResp;
import io.milvus.v2.service.vector.response.SearchResp;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

public final class Session {
    private static final int ROWS = 200;
    private static final int DIM = 4;
    private static final String NAME = "java_books";
    private static final Gson GSON = new Gson();

    private final MilvusClientV2 client;
    private final Map<String, Object> seen = new LinkedHashMap<>();

    private Session(String uri) {
        client = new MilvusClientV2(ConnectConfig.builder().uri(uri).build());
    }

    public static void main(String[] arguments) {
        Session session = new Session(arguments[0]);
        session.create();
        session.insert();
        session.search();
        session.change();
        session.mistakes();
        session.client.dropCollection(DropCollectionReq.builder().collectionName(NAME).build());
        session.client.close();
        System.out.println(GSON.toJson(session.seen));
    }

    /** Vectors that the test makes too: on a circle, a step for each row. */
    private static List<Float> vector(int row, int turn) {
        double angle = row * turn * Math.PI / ROWS;
        return List.of((float) Math.cos(angle), (float) Math.sin(angle), 0f, 0f);
    }

    private static JsonObject row(int id, String title) {
        JsonObject row = new JsonObject();
        row.addProperty("id", id);
        row.add("v", GSON.toJsonTree(vector(id, 1)));
        row.add("w", GSON.toJsonTree(vector(id, 2)));
        row.addProperty("title", title);
        row.addProperty("colour", id % 2 == 0 ? "blue" : "red");
        return row;
    }

    private void create() {
        CreateCollectionReq.CollectionSchema schema =
                CreateCollectionReq.CollectionSchema.builder().enableDynamicField(true).build();
        schema.addField(AddFieldReq.builder().fieldName("id").dataType(DataType.Int64).isPrimaryKey(true).build());
        List<IndexParam> indexes = new ArrayList<>();
        for (String name : List.of("v", "w")) {
            schema.addField(AddFieldReq.builder().fieldName(name).dataType(DataType.FloatVector).dimension(DIM).build());
            indexes.add(IndexParam.builder().fieldName(name).indexType(IndexParam.IndexType.HNSW)
                    .metricType(IndexParam.MetricType.L2).extraParams(Map.of("M", 16, "efConstruction", 100)).build());
        }
        schema.addField(AddFieldReq.builder().fieldName("title").dataType(DataType.VarChar).maxLength(64).build());
        client.createCollection(CreateCollectionReq.builder().collectionName(NAME).collectionSchema(schema)
                .indexParams(indexes).consistencyLevel(ConsistencyLevel.STRONG).build());
    }

    private void insert() {
        List<JsonObject> rows = new ArrayList<>();
        for (int id = 0; id < ROWS; id++) {
            rows.add(row(id, "t" + id % 10));
        }
        seen.put("inserted", client.insert(InsertReq.builder().collectionName(NAME).data(rows).build()).getInsertCnt());
    }

    private static List<Long> ids(List<SearchResp.SearchResult> hits) {
        return hits.stream().map(hit -> (Long) hit.getId()).collect(Collectors.toList());
    }

    private static List<Object> values(QueryResp found, String field) {
        return found.getQueryResults().stream().map(row -> row.getEntity().get(field)).collect(Collectors.toList());
    }

    private void search() {
        List<BaseVector> near = List.of(new FloatVec(vector(20, 1)));
        List<BaseVector> wide = List.of(new FloatVec(vector(20, 2)));
        List<SearchResp.SearchResult> found = client.search(SearchReq.builder().collectionName(NAME).annsField("v")
                .data(near).limit(3).outputFields(List.of("title", "colour")).build()).getSearchResults().get(0);
        Map<String, Object> first = found.get(0).getEntity();
        seen.put("found", ids(found));
        seen.put("first", List.of(first.get("title"), first.get("colour")));
        seen.put("filtered", ids(client.search(SearchReq.builder().collectionName(NAME).annsField("v").data(near).limit(3)
                .filter("colour == \"red\"").build()).getSearchResults().get(0)));
        seen.put("templated", values(client.query(QueryReq.builder().collectionName(NAME).filter("id in {ids}")
                .filterTemplateValues(Map.of("ids", List.of(3L, 4L))).outputFields(List.of("id")).build()), "id"));
        List<AnnSearchReq> both = List.of(
                AnnSearchReq.builder().vectorFieldName("v").vectors(near).limit(10).build(),
                AnnSearchReq.builder().vectorFieldName("w").vectors(wide).limit(10).build());
        seen.put("hybrid", ids(client.hybridSearch(HybridSearchReq.builder().collectionName(NAME).searchRequests(both)
                .functionScore(FunctionScore.builder().addFunction(RRFRanker.builder().k(60).build()).build()).limit(2).build()).getSearchResults().get(0)).get(0));
    }

    private void change() {
        client.upsert(UpsertReq.builder().collectionName(NAME).data(List.of(row(7, "new"))).build());
        List<QueryResp.QueryResult> got = client.get(GetReq.builder().collectionName(NAME).ids(List.of(7))
                .outputFields(List.of("title")).build()).getGetResults();
        seen.put("got", got.get(0).getEntity().get("title"));
        seen.put("deleted", client.delete(DeleteReq.builder().collectionName(NAME).filter("id >= 150").build()).getDeleteCnt());
        seen.put("count", values(client.query(QueryReq.builder().collectionName(NAME).filter("")
                .outputFields(List.of("count(*)")).build()), "count(*)").get(0));
        var pages = client.queryIterator(QueryIteratorReq.builder().collectionName(NAME).expr("id >= 0").batchSize(60)
                .outputFields(List.of("id")).build());
        int iterated = 0;
        for (int rows = pages.next().size(); rows > 0; rows = pages.next().size()) {
            iterated += rows;
        }
        seen.put("iterated", iterated);
    }

    private void mistakes() {
        try {
            client.query(QueryReq.builder().collectionName(NAME).filter("id ==").outputFields(List.of("id")).build());
        } catch (MilvusClientException error) {
            seen.put("error", error.getMessage());
        }
        seen.put("absent", client.hasCollection(HasCollectionReq.builder().collectionName("absent").build()));
        seen.put("fields", client.describeCollection(DescribeCollectionReq.builder().collectionName(NAME).build()).getFieldNames());
    }
}

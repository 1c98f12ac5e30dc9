"""Users, roles and privileges through pymilvus, in three stages between which the server may stop: `manage URI`, `after URI`,
and `open URI` against a server that asks nobody who they are."""

import json
import logging
import sys

import grpc
import pymilvus
from pymilvus import MilvusClient, MilvusException

logging.disable(logging.CRITICAL)
ROWS = [{"id": i, "vector": [float(i), 1.0]} for i in range(5)]
GROUPS = {f"{level}{tier}" for level in ("Cluster", "Database", "Collection") for tier in ("ReadOnly", "ReadWrite", "Admin")}


class Session:
    def __init__(self, uri):
        self.uri = uri
        self.checks = 0

    def client(self, user, password, **more):
        return MilvusClient(uri=self.uri, user=user, password=password, **more)

    def same(self, got, want, what):
        self.checks += 1
        assert got == want, f"{what}: {got!r} is not {want!r}"

    def refused(self, said, call):
        """A call fails, and says this."""
        self.checks += 1
        try:
            call()
        except (MilvusException, grpc.RpcError) as error:
            # Who is not let in or through gets an error of the transport, which clients pass on as it is;
            # that a connection was refused they tell by its cause alone.
            assert said in f"{error} {error.__cause__}", str(error)
            return
        raise AssertionError(f"nothing was refused: {said}")

    def denied(self, privilege, user, call):
        self.refused(f"Privilege{privilege}: permission deny to {user}", call)

    def stranger(self, user, password):
        # Connections that are open already are shared.
        self.refused("auth check failure", lambda: self.client(user, password).list_collections())

    def collection(self, client, name):
        client.create_collection(name, dimension=2, consistency_level="Strong")
        client.insert(name, ROWS)

    def search(self, client, name="docs"):
        (hits,) = client.search(name, data=[[3.0, 1.0]], limit=1, consistency_level="Strong")
        return [hit["id"] for hit in hits]

    def manage(self):
        for user, password in (("root", "milvus"), ("nobody", "Milvus")):
            self.stranger(user, password)
        # Without any, the client says so itself or the server does.
        self.refused("", lambda: MilvusClient(uri=self.uri))
        root = MilvusClient(uri=self.uri, token="root:Milvus")
        self.collection(root, "docs")
        self.collection(root, "others")
        self.users(root)
        self.roles(root)
        self.rights(root)
        self.databases(root)
        self.groups(root)
        self.passwords(root)

    def users(self, root):
        root.create_user("alice", "secret-1")
        root.create_user("bob", "secret-2")
        self.same(set(root.list_users()), {"root", "alice", "bob"}, "users")
        self.refused("user already exists: bob", lambda: root.create_user("bob", "secret-3"))
        self.refused("invalid parameter", lambda: root.create_user("n@me", "secret-3"))
        self.refused("invalid password", lambda: root.create_user("carol", "short"))
        self.refused("root user cannot be deleted: privilege not permitted", lambda: root.drop_user("root"))
        root.drop_user("somebody")
        self.same(root.describe_user("somebody"), {}, "nobody")
        self.same(tuple(root.describe_user("root")["roles"]), ("admin",), "root's roles")

    def roles(self, root):
        root.create_role("reader")
        self.refused('role [name:"reader"] already exists', lambda: root.create_role("reader"))
        self.refused("invalid parameter", lambda: root.create_role("re-ader"))
        self.same(set(root.list_roles()), {"admin", "public", "reader"}, "roles")
        self.refused("not found the role", lambda: root.drop_role("writer"))
        for role in ("admin", "public"):
            self.refused("is a default role", lambda role=role: root.drop_role(role))
        self.refused("not found the user", lambda: root.grant_role("carol", "reader"))
        self.refused("not found the role", lambda: root.grant_role("alice", "writer"))
        root.grant_role("alice", "reader")
        root.grant_role("alice", "reader")
        self.same(tuple(root.describe_user("alice")["roles"]), ("reader",), "alice's roles")
        root.revoke_role("nobody", "reader")
        self.refused("not found the role", lambda: root.revoke_role("nobody", "writer"))

    def rights(self, root):
        alice = self.client("alice", "secret-1")
        # What everybody may: nothing but what clients ask before they search.
        self.same(alice.list_collections(), [], "nothing is seen")
        self.same(alice.list_databases(), [], "no database, either")
        self.same(alice.describe_collection("docs")["collection_name"], "docs", "described")
        self.denied("Search", "alice", lambda: self.search(alice))
        self.denied("Query", "alice", lambda: alice.query("docs", filter="id >= 0"))
        self.denied("Insert", "alice", lambda: alice.insert("docs", ROWS))
        self.denied("Delete", "alice", lambda: alice.delete("docs", ids=[1]))
        self.denied("CreateCollection", "alice", lambda: alice.create_collection("mine", dimension=2))
        self.denied("DropCollection", "alice", lambda: alice.drop_collection("docs"))
        self.denied("CreateOwnership", "alice", lambda: alice.create_user("carol", "secret-3"))
        self.denied("ManageOwnership", "alice", lambda: alice.grant_role("alice", "admin"))
        self.denied("SelectOwnership", "alice", lambda: alice.list_users())
        self.denied("CreateDatabase", "alice", lambda: alice.create_database("db1"))
        # The first form of grants.
        root.grant_privilege("reader", "Collection", "Search", "docs")
        self.same(self.search(alice), [3], "searched")
        self.same(alice.list_collections(), ["docs"], "one is seen")
        self.same(alice.list_databases(), ["default"], "one database, too")
        self.denied("Search", "alice", lambda: self.search(alice, "others"))
        self.denied("Query", "alice", lambda: alice.query("docs", filter="id >= 0"))
        # An alias means what it means.
        root.create_alias("docs", "papers")
        root.create_alias("others", "reports")
        self.same(self.search(alice, "papers"), [3], "by its alias")
        self.denied("Search", "alice", lambda: self.search(alice, "reports"))
        self.denied("Search", "alice", lambda: self.search(alice, "nothing"))
        told = root.describe_role("reader")["privileges"]
        want = {"object_type": "Collection", "object_name": "docs", "db_name": "default", "role_name": "reader",
                "privilege": "Search", "grantor_name": "root"}
        self.same([dict(one) for one in told], [want], "told")
        self.refused("fail to drop the role that it has privileges", lambda: root.drop_role("reader"))
        root.revoke_privilege("reader", "Collection", "Search", "docs")
        self.denied("Search", "alice", lambda: self.search(alice))
        for said, kind, privilege in (("the object entity", "Thing", "Search"), ("not found the privilege", "Global", "Sing"),
                                      ("not found the privilege", "Global", "Search")):
            self.refused(said, lambda k=kind, p=privilege: root.grant_privilege("reader", k, p, "*"))
        # The second form, and built-in groups.
        root.grant_privilege_v2("reader", "CollectionReadOnly", "docs")
        self.same(self.search(alice), [3], "searched")
        self.same(len(alice.query("docs", filter="id >= 0", consistency_level="Strong")), 5, "queried")
        self.denied("Insert", "alice", lambda: alice.insert("docs", ROWS))
        self.denied("Query", "alice", lambda: alice.query("others", filter="id >= 0"))
        root.grant_privilege_v2("reader", "Insert", "*")
        self.same(alice.insert("others", ROWS)["insert_count"], 5, "inserted")
        self.refused("collectionName should be *", lambda: root.grant_privilege_v2("reader", "DropCollection", "docs"))
        self.refused("dbName and collectionName should be *", lambda: root.grant_privilege_v2("reader", "ClusterAdmin", "*"))
        self.refused("dbName and collectionName should be *", lambda: root.grant_privilege_v2("reader", "SelectOwnership", "docs"))
        root.grant_privilege_v2("reader", "SelectOwnership", "*")
        self.same(set(alice.list_users()), {"root", "alice", "bob"}, "one privilege of the cluster, in a database")
        root.revoke_privilege_v2("reader", "SelectOwnership", "*")
        self.denied("SelectOwnership", "alice", lambda: alice.list_users())
        root.grant_privilege("reader", "Global", "All", "*")
        alice.create_collection("mine", dimension=2)
        alice.drop_collection("mine")
        root.revoke_privilege("reader", "Global", "All", "*")
        self.denied("CreateCollection", "alice", lambda: alice.create_collection("mine", dimension=2))
        # Who has the role admin may everything.
        root.grant_role("bob", "admin")
        bob = self.client("bob", "secret-2")
        self.same(set(bob.list_collections()), {"docs", "others"}, "bob sees everything")
        bob.create_user("carol", "secret-3")
        root.revoke_role("bob", "admin")
        self.denied("DropOwnership", "bob", lambda: bob.drop_user("carol"))

    def databases(self, root):
        root.create_database("db1")
        in_it = self.client("root", "Milvus", db_name="db1")
        self.collection(in_it, "docs")
        bob = self.client("bob", "secret-2", db_name="db1")
        root.create_role("of_db1")
        root.grant_role("bob", "of_db1")
        self.denied("Search", "bob", lambda: self.search(bob))
        root.grant_privilege_v2("of_db1", "CollectionReadOnly", "*", db_name="db1")
        self.same(self.search(bob), [3], "searched in a database")
        self.same(bob.list_databases(), ["db1"], "it is seen")
        self.denied("Search", "bob", lambda: self.search(self.client("bob", "secret-2")))
        self.denied("DropDatabase", "bob", lambda: bob.drop_database("db1"))
        self.same(self.client("bob", "secret-2").list_collections(), [], "nothing is seen in another")
        in_it.drop_collection("docs")
        self.denied("DescribeDatabase", "bob", lambda: bob.describe_database("db1"))
        root.grant_privilege_v2("of_db1", "DatabaseReadOnly", "*", db_name="db1")
        self.same(bob.describe_database("db1")["name"], "db1", "described")
        told = root.describe_role("of_db1", db_name="db1")["privileges"]
        self.same({one["privilege"] for one in told}, {"CollectionReadOnly", "DatabaseReadOnly"}, "told in its database")
        self.same(root.describe_role("of_db1")["privileges"], [], "and nowhere else")
        root.drop_database("db1")
        root.drop_role("of_db1", force_drop=True)
        self.same(tuple(root.describe_user("bob")["roles"]), (), "a role that goes is nobody's")

    def groups(self, root):
        names = lambda: {one["privilege_group"] for one in root.list_privilege_groups()}
        self.same(names(), GROUPS, "built-in groups")
        root.create_privilege_group("writers")
        root.add_privileges_to_group("writers", ["Insert", "Upsert"])
        self.same(names(), GROUPS | {"writers"}, "and one more")
        bob = self.client("bob", "secret-2")
        root.create_role("writer")
        root.grant_role("bob", "writer")
        root.grant_privilege_v2("writer", "writers", "docs")
        self.same(bob.insert("docs", ROWS)["insert_count"], 5, "inserted")
        self.denied("Delete", "bob", lambda: bob.delete("docs", ids=[1]))
        root.add_privileges_to_group("writers", ["Delete"])
        bob.delete("docs", ids=[77])
        root.remove_privileges_from_group("writers", ["Insert"])
        self.denied("Insert", "bob", lambda: bob.insert("docs", ROWS))
        self.refused("is used by role [writer]", lambda: root.drop_privilege_group("writers"))
        self.refused("is defined by built in", lambda: root.create_privilege_group("ClusterAdmin"))
        self.refused("there is no privilege group name", lambda: root.add_privileges_to_group("ClusterAdmin", ["Insert"]))
        self.refused("there is no privilege group name", lambda: root.add_privileges_to_group("lost", ["Insert"]))
        self.refused("there is no privilege name", lambda: root.add_privileges_to_group("writers", ["Sing"]))
        self.refused("privileges are not the same privilege level", lambda: root.add_privileges_to_group("writers", ["CreateDatabase"]))
        for call in (root.create_privilege_group, root.drop_privilege_group, lambda name: root.add_privileges_to_group(name, ["Insert"])):
            self.refused("privilege group name wri-ters can only contain numbers, letters and underscores: invalid parameter",
                         lambda: call("wri-ters"))
        self.refused("the first character of a privilege group name 1st must be an underscore or letter", lambda: root.create_privilege_group("1st"))
        root.revoke_privilege_v2("writer", "writers", "docs")
        root.drop_privilege_group("writers")
        root.drop_privilege_group("writers")
        self.same(names(), GROUPS, "it is gone")

    def passwords(self, root):
        alice = self.client("alice", "secret-1")
        self.refused("old password not correct for alice: not authenticated",
                     lambda: alice.update_password("alice", "secret-2", "secret-4"))
        self.refused("invalid password", lambda: alice.update_password("alice", "secret-1", "short"))
        self.denied("UpdateUser", "alice", lambda: alice.update_password("bob", "secret-2", "secret-4"))
        self.denied("SelectUser", "alice", lambda: alice.describe_user("bob"))
        alice.update_password("alice", "secret-1", "secret-4")
        # The connection still says the old one.
        self.refused("auth check failure", lambda: self.search(alice))
        self.stranger("alice", "secret-1")
        alice = self.client("alice", "secret-4")
        self.same(self.search(alice), [3], "with the new one")
        self.same(tuple(alice.describe_user("alice")["roles"]), ("reader",), "one may look at oneself")
        carol = self.client("carol", "secret-3")
        root.drop_user("carol")
        self.refused("auth check failure", lambda: carol.list_collections())
        self.stranger("carol", "secret-3")

    def after(self):
        """A server that was stopped and started knows everybody."""
        root = MilvusClient(uri=self.uri, token="root:Milvus")
        self.same(set(root.list_users()), {"root", "alice", "bob"}, "users")
        self.same(set(root.list_roles()), {"admin", "public", "reader", "writer"}, "roles")
        self.stranger("alice", "secret-1")
        alice = self.client("alice", "secret-4")
        self.same(self.search(alice), [3], "searched")
        self.denied("Delete", "alice", lambda: alice.delete("docs", ids=[1]))

    def open(self):
        """Users are managed, and nobody is asked."""
        client = MilvusClient(uri=self.uri)
        client.create_user("alice", "secret-1")
        client.create_role("reader")
        client.grant_role("alice", "reader")
        client.grant_privilege_v2("reader", "Search", "docs")
        self.same(tuple(client.describe_user("alice")["roles"]), ("reader",), "managed")
        self.collection(client, "docs")
        for other in (self.client("alice", "a guess"), MilvusClient(uri=self.uri, token="root:wrong")):
            self.same(self.search(other), [3], "nothing is refused")
            self.same(other.list_collections(), ["docs"], "everything is seen")
        self.refused("old password not correct", lambda: client.update_password("alice", "secret-2", "secret-4"))
        client.update_password("alice", "secret-1", "secret-4")
        client.drop_user("alice")
        client.drop_role("reader", force_drop=True)
        client.drop_collection("docs")


session = Session(sys.argv[2])
getattr(session, sys.argv[1])()
print(json.dumps({"version": pymilvus.__version__, "checks": session.checks}))

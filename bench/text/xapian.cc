// Xapian as a contender of the text benchmark: the same arguments and orders as the one in Rust.
// It has no fuzzy operator before version 2.0.

#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <xapian.h>

namespace {

constexpr Xapian::doccount kTop = 10;
constexpr Xapian::doccount kCounted = 10000;

long long Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void Build(const std::string& docs, const std::string& folder) {
  Xapian::WritableDatabase database(folder, Xapian::DB_CREATE_OR_OVERWRITE);
  std::ifstream lines(docs);
  unsigned long number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    Xapian::Document document;
    Xapian::termpos position = 0;
    // Terms are at most 245 bytes long; longer ones are never asked for.
    for (const std::string& word : Words(line))
      if (word.size() <= 200) document.add_posting(word, ++position);
    if (number % 2 == 1) document.add_boolean_term("Ghalf");
    if (number % 10 == 3) document.add_boolean_term("Gtenth");
    database.add_document(document);
  }
  database.commit();
}

Xapian::Query Read(const std::string& shape, const std::string& text) {
  const std::vector<std::string> words = Words(text);
  if (shape == "prefix") {
    return Xapian::Query(Xapian::Query::OP_WILDCARD, text, 0, Xapian::Query::WILDCARD_LIMIT_ERROR,
                         Xapian::Query::OP_SYNONYM);
  }
  auto op = Xapian::Query::OP_OR;
  if (shape == "and") op = Xapian::Query::OP_AND;
  if (shape == "phrase") op = Xapian::Query::OP_PHRASE;
  return Xapian::Query(op, words.begin(), words.end(), shape == "phrase" ? words.size() : 0);
}

using Queries = std::map<std::string, std::vector<std::string>>;

std::string Answer(const Xapian::Database& database, const Queries& queries,
                   const std::vector<std::string>& order) {
  const std::string& name = order[2];
  const std::string plain = name.substr(0, name.find('+'));
  std::string shape = plain;
  while (!shape.empty() && isdigit(shape.back())) shape.pop_back();
  const Xapian::doccount counted = order[1] == "count" ? kCounted : 0;
  std::ostringstream out;
  for (const std::string& text : queries.at(plain)) {
    Xapian::Query query = Read(shape, text);
    if (plain != name)
      query = Xapian::Query(Xapian::Query::OP_FILTER, query,
                            Xapian::Query("G" + name.substr(name.find('+') + 1)));
    Xapian::Enquire enquire(database);
    enquire.set_weighting_scheme(Xapian::BM25Weight(1.2, 0, 1, 0.75, 0.0));
    const long long before = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    enquire.set_query(query);
    const Xapian::MSet found = enquire.get_mset(0, kTop, counted);
    const long long spent = Nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
    if (order[0] == "time") {
      out << spent << ' ';
      continue;
    }
    out << found.get_matches_estimated() << ':';
    const char* comma = "";
    for (auto hit = found.begin(); hit != found.end(); ++hit, comma = ",")
      out << comma << hit.get_weight();
    out << ' ';
  }
  return out.str();
}

}  // namespace

int main(int, char** arguments) {
  const long long before = Nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  Build(arguments[1], arguments[4]);
  std::cout << "built " << Nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before << std::endl;
  const Xapian::Database database(arguments[4]);
  Queries queries;
  std::ifstream lines(arguments[2]);
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    queries[line.substr(0, tab)].push_back(line.substr(tab + 1));
  }
  for (std::string line; std::getline(std::cin, line);)
    std::cout << Answer(database, queries, Words(line)) << std::endl;
}

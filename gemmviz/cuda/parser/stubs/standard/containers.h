// Containers and strings, as far as host code passes them to a launch. std::array is complete: kernels use it.
#pragma once

namespace std {
template <class T, size_t n> struct array {
  using value_type = T;
  T values[n];
  constexpr T& operator[](size_t i) { return values[i]; }
  constexpr const T& operator[](size_t i) const { return values[i]; }
  constexpr T* data() { return values; }
  constexpr const T* data() const { return values; }
  constexpr T* begin() { return values; }
  constexpr T* end() { return values + n; }
  constexpr const T* begin() const { return values; }
  constexpr const T* end() const { return values + n; }
  static constexpr size_t size() { return n; }
  constexpr void fill(const T& value) { for (size_t i = 0; i < n; i++) values[i] = value; }
};
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
template <class T, size_t n> constexpr size_t size(const T (&)[n]) { return n; }
template <class C> constexpr auto size(const C& container) { return container.size(); }
template <class C> constexpr auto begin(C& container) { return container.begin(); }
template <class C> constexpr auto end(C& container) { return container.end(); }
template <class T, size_t n> constexpr T* begin(T (&values)[n]) { return values; }
template <class T, size_t n> constexpr T* end(T (&values)[n]) { return values + n; }
template <class T> class allocator {};

class string {
 public:
  static constexpr size_t npos = size_t(-1);
  string();
  string(const char*);
  string(const string&);
  string(const char*, size_t);
  string(size_t, char);
  string& operator=(const string&);
  string& operator+=(const string&);
  string& operator+=(char);
  char& operator[](size_t);
  const char& operator[](size_t) const;
  const char* c_str() const;
  const char* data() const;
  size_t size() const;
  size_t length() const;
  bool empty() const;
  void clear();
  void resize(size_t);
  void push_back(char);
  string substr(size_t, size_t = npos) const;
  size_t find(const string&, size_t = 0) const;
  size_t rfind(const string&, size_t = npos) const;
  int compare(const string&) const;
  string& append(const string&);
  char* begin();
  char* end();
};
using string_view = string;
string operator+(const string&, const string&);
string operator+(const string&, char);
bool operator==(const string&, const string&);
bool operator!=(const string&, const string&);
bool operator<(const string&, const string&);
template <class T> string to_string(T);
int stoi(const string&);
long stol(const string&);
long long stoll(const string&);
unsigned long stoul(const string&);
unsigned long long stoull(const string&);
float stof(const string&);
double stod(const string&);
inline namespace literals { string operator""s(const char*, size_t); }

template <class T, class A = allocator<T>> class vector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  using size_type = size_t;
  vector();
  explicit vector(size_t);
  vector(size_t, const T&);
  vector(initializer_list<T>);
  vector(const vector&);
  template <class I> requires(!is_integral_v<I>) vector(I, I);
  vector& operator=(const vector&);
  vector& operator=(initializer_list<T>);
  T& operator[](size_t);
  const T& operator[](size_t) const;
  T& at(size_t);
  const T& at(size_t) const;
  T* data();
  const T* data() const;
  T* begin();
  T* end();
  const T* begin() const;
  const T* end() const;
  const T* cbegin() const;
  const T* cend() const;
  T& front();
  T& back();
  const T& front() const;
  const T& back() const;
  size_t size() const;
  size_t capacity() const;
  bool empty() const;
  void push_back(const T&);
  template <class... U> T& emplace_back(U&&...);
  void pop_back();
  void resize(size_t);
  void resize(size_t, const T&);
  void reserve(size_t);
  void clear();
  void shrink_to_fit();
  void swap(vector&);
  template <class... U> void assign(U&&...);
  template <class... U> T* insert(U&&...);
  template <class... U> T* erase(U&&...);
};
template <class T, class... U> class deque : public vector<T> { using vector<T>::vector; };
template <class T, class... U> class list : public vector<T> { using vector<T>::vector; };
template <class T, class... U> class set : public vector<T> { using vector<T>::vector; };
template <class T, class... U> class unordered_set : public vector<T> { using vector<T>::vector; };
template <class T, class... U> class queue : public vector<T> {};
template <class T, class... U> class stack : public vector<T> {};
template <class K, class V, class... U> class map : public vector<pair<const K, V>> {
 public:
  map();
  map(initializer_list<pair<const K, V>>);
  V& operator[](const K&);
  V& at(const K&);
  const V& at(const K&) const;
  pair<const K, V>* find(const K&);
  const pair<const K, V>* find(const K&) const;
  size_t count(const K&) const;
  bool contains(const K&) const;
};
template <class K, class V, class... U> class unordered_map : public map<K, V> { using map<K, V>::map; };
template <size_t n> class bitset { public: bool operator[](size_t) const; };
template <class T> class span {
 public:
  template <class C> span(C&&);
  span(T*, size_t);
  T& operator[](size_t) const;
  T* data() const;
  size_t size() const;
  T* begin() const;
  T* end() const;
};
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <class T> class optional {
 public:
  optional();
  optional(nullopt_t);
  optional(const T&);
  const T& operator*() const;
  const T* operator->() const;
  const T& value() const;
  T value_or(const T&) const;
  bool has_value() const;
  explicit operator bool() const;
};
}  // namespace std
